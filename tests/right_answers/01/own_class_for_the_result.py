"""
why: another class with the same five fields (a named tuple) is as good
exercise: 1.1
"""
import os
from typing import NamedTuple


class RankInfo(NamedTuple):
    rank: int = 0
    local_rank: int = 0
    world_size: int = 1
    local_world_size: int = 1
    node_rank: int = 0


def read_rank_env():
    variables = {
        "rank": "RANK",
        "local_rank": "LOCAL_RANK",
        "world_size": "WORLD_SIZE",
        "local_world_size": "LOCAL_WORLD_SIZE",
        "node_rank": "GROUP_RANK",
    }
    return RankInfo(**{k: int(os.environ[v]) for k, v in variables.items() if v in os.environ})
