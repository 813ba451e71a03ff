"""
why: refuses an environment in which only some of the variables are set
exercise: 1.1
"""
import os


def read_rank_env():
    names = ["RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "GROUP_RANK"]
    missing = [name for name in names if name not in os.environ]
    if len(missing) == len(names):
        return RankInfo(rank=0, local_rank=0, world_size=1, local_world_size=1, node_rank=0)
    if missing:
        raise RuntimeError(f"some variables of the launcher are missing: {missing}")
    return RankInfo(*(int(os.environ[name]) for name in names))
