"""
symptom: KeyError 'RANK' in a plain python train.py
source: own; many public training scripts
exercise: 1.1
says: KeyError
"""
import os


def read_rank_env():
    return RankInfo(
        rank=int(os.environ["RANK"]),
        local_rank=int(os.environ["LOCAL_RANK"]),
        world_size=int(os.environ["WORLD_SIZE"]),
        local_world_size=int(os.environ["LOCAL_WORLD_SIZE"]),
        node_rank=int(os.environ["GROUP_RANK"]),
    )
