"""
symptom: tests and notebooks that set the environment later see old values
source: own (right on the first call only)
exercise: 1.1
says: is read once
"""
import os

_ENV = dict(os.environ)


def read_rank_env():
    return RankInfo(
        rank=int(_ENV.get("RANK", 0)),
        local_rank=int(_ENV.get("LOCAL_RANK", 0)),
        world_size=int(_ENV.get("WORLD_SIZE", 1)),
        local_world_size=int(_ENV.get("LOCAL_WORLD_SIZE", 1)),
        node_rank=int(_ENV.get("GROUP_RANK", 0)),
    )
