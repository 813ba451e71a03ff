"""
why: the padded order is never made
exercise: 3.1
"""
import torch


class BadShard(ValueError):
    pass


def shard_indices(n, world_size, rank, *, shuffle=True, seed=0, epoch=0, drop_last=False):
    if n < 1 or rank not in range(world_size):
        raise BadShard(n, world_size, rank)
    generator = torch.Generator()
    generator.manual_seed(seed + epoch)
    order = torch.randperm(n, generator=generator) if shuffle else torch.arange(n)
    rounds = (n if drop_last else n + world_size - 1) // world_size
    return [int(order[(turn * world_size + rank) % n]) for turn in range(rounds)]
