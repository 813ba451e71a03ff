"""
symptom: right as long as all nodes run the same number of processes
source: own (right only for equal nodes)
exercise: 1.1
says: node_rank is computed
"""
import os


def read_rank_env():
    rank = int(os.environ.get("RANK", 0))
    local_world_size = int(os.environ.get("LOCAL_WORLD_SIZE", 1))
    return RankInfo(
        rank=rank,
        local_rank=int(os.environ.get("LOCAL_RANK", 0)),
        world_size=int(os.environ.get("WORLD_SIZE", 1)),
        local_world_size=local_world_size,
        node_rank=rank // local_world_size,
    )
