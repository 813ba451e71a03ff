"""
symptom: every epoch has the same order
source: course list of mistakes (set_epoch forgotten)
exercise: 3.1
says: epoch has no effect
"""
import math

import torch


def shard_indices(n, world_size, rank, *, shuffle=True, seed=0, epoch=0, drop_last=False):
    if n < 1 or not 0 <= rank < world_size:
        raise ValueError(f"n={n}, world_size={world_size}, rank={rank}")
    order = list(range(n))
    if shuffle:
        order = torch.randperm(n, generator=torch.Generator().manual_seed(seed)).tolist()
    per_rank = n // world_size if drop_last else math.ceil(n / world_size)
    total = per_rank * world_size
    order = (order * math.ceil(total / n))[:total]
    return order[rank::world_size]
