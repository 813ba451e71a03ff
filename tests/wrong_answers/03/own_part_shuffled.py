"""
symptom: a rank sees the same samples in every epoch
source: own
exercise: 3.1
says: fixed part
"""
import math
import random


def shard_indices(n, world_size, rank, *, shuffle=True, seed=0, epoch=0, drop_last=False):
    if n < 1 or not 0 <= rank < world_size:
        raise ValueError(f"n={n}, world_size={world_size}, rank={rank}")
    total = (n // world_size if drop_last else math.ceil(n / world_size)) * world_size
    mine = [i % n for i in range(total)][rank::world_size]
    if shuffle:
        random.Random(seed + epoch).shuffle(mine)
    return mine
