"""
symptom: later code takes the process for one that a launcher started
source: own (side effect left behind)
exercise: 1.1
says: changed in os.environ
"""
import os


def read_rank_env():
    return RankInfo(
        rank=int(os.environ.setdefault("RANK", "0")),
        local_rank=int(os.environ.setdefault("LOCAL_RANK", "0")),
        world_size=int(os.environ.setdefault("WORLD_SIZE", "1")),
        local_world_size=int(os.environ.setdefault("LOCAL_WORLD_SIZE", "1")),
        node_rank=int(os.environ.setdefault("GROUP_RANK", "0")),
    )
