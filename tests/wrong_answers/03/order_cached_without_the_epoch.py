"""
symptom: right in the first epoch, which then comes again
source: own
exercise: 3.1
says: epoch has no effect
"""
import math

import torch


_CACHE = {}


def _shuffled(n, seed, epoch):
    if (n, seed) not in _CACHE:
        _CACHE[n, seed] = torch.randperm(n, generator=torch.Generator().manual_seed(seed + epoch)).tolist()
    return list(_CACHE[n, seed])


def shard_indices(n, world_size, rank, *, shuffle=True, seed=0, epoch=0, drop_last=False):
    if n < 1 or not 0 <= rank < world_size:
        raise ValueError(f"n={n}, world_size={world_size}, rank={rank}")
    order = list(range(n))
    if shuffle:
        order = _shuffled(n, seed, epoch)
    per_rank = n // world_size if drop_last else math.ceil(n / world_size)
    total = per_rank * world_size
    order = (order * math.ceil(total / n))[:total]
    return order[rank::world_size]
