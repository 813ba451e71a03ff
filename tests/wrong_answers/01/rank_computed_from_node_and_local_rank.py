"""
symptom: two processes with the same rank, a hang, as soon as nodes differ
source: own (right only for equal nodes)
exercise: 1.1
says: the field rank
"""
import os


def read_rank_env():
    local_rank = int(os.environ.get("LOCAL_RANK", 0))
    local_world_size = int(os.environ.get("LOCAL_WORLD_SIZE", 1))
    node_rank = int(os.environ.get("GROUP_RANK", 0))
    return RankInfo(
        rank=node_rank * local_world_size + local_rank,
        local_rank=local_rank,
        world_size=int(os.environ.get("WORLD_SIZE", 1)),
        local_world_size=local_world_size,
        node_rank=node_rank,
    )
