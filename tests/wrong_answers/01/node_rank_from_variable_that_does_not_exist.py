"""
symptom: every node believes to be node 0
source: own; torchrun sets GROUP_RANK
exercise: 1.1
says: no variable NODE_RANK
"""
import os


def read_rank_env():
    return RankInfo(
        rank=int(os.environ.get("RANK", 0)),
        local_rank=int(os.environ.get("LOCAL_RANK", 0)),
        world_size=int(os.environ.get("WORLD_SIZE", 1)),
        local_world_size=int(os.environ.get("LOCAL_WORLD_SIZE", 1)),
        node_rank=int(os.environ.get("NODE_RANK", 0)),
    )
