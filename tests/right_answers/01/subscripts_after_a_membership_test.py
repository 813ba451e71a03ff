"""
why: reads os.environ[...] where the launcher was there, in another order, fields by position
exercise: 1.1
"""
import os


def read_rank_env():
    env = os.environ
    if "LOCAL_RANK" not in env:
        return RankInfo(0, 0, 1, 1, 0)
    node_rank, local_world_size, world_size, local_rank, rank = (
        int(env[name])
        for name in ("GROUP_RANK", "LOCAL_WORLD_SIZE", "WORLD_SIZE", "LOCAL_RANK", "RANK")
    )
    return RankInfo(rank, local_rank, world_size, local_world_size, node_rank)
