"""
symptom: division by zero, or an empty shard, without a launcher
source: own (wrong defaults)
exercise: 1.1
says: a single process has rank 0 in a world of size 1
"""
import os


def read_rank_env():
    names = ["RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "GROUP_RANK"]
    return RankInfo(*(int(os.environ.get(name, 0)) for name in names))
