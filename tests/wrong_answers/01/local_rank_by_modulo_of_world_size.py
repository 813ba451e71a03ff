"""
symptom: invalid device ordinal on node 2
source: course list of mistakes
exercise: 1.1
says: the field local_rank
"""
import os


def read_rank_env():
    rank = int(os.environ.get("RANK", 0))
    world_size = int(os.environ.get("WORLD_SIZE", 1))
    return RankInfo(
        rank=rank,
        local_rank=rank % world_size,
        world_size=world_size,
        local_world_size=int(os.environ.get("LOCAL_WORLD_SIZE", 1)),
        node_rank=int(os.environ.get("GROUP_RANK", 0)),
    )
