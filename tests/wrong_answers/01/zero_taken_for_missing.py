"""
symptom: rank 0 gets the values of a process that is alone
source: own (a falsy value mistaken for a missing one)
exercise: 1.1
says: the field world_size in the first process of the first node
"""
import os


def read_rank_env():
    rank = int(os.environ.get("RANK", 0))
    if not rank:
        return RankInfo(0, 0, 1, 1, 0)
    return RankInfo(
        rank=rank,
        local_rank=int(os.environ["LOCAL_RANK"]),
        world_size=int(os.environ["WORLD_SIZE"]),
        local_world_size=int(os.environ["LOCAL_WORLD_SIZE"]),
        node_rank=int(os.environ["GROUP_RANK"]),
    )
