"""
symptom: rank 0 never logs or saves, because '0' == 0 is False
source: course list of mistakes
exercise: 1.1
says: values of os.environ are strings
"""
import os


def read_rank_env():
    return RankInfo(
        rank=os.environ.get("RANK", 0),
        local_rank=os.environ.get("LOCAL_RANK", 0),
        world_size=os.environ.get("WORLD_SIZE", 1),
        local_world_size=os.environ.get("LOCAL_WORLD_SIZE", 1),
        node_rank=os.environ.get("GROUP_RANK", 0),
    )
