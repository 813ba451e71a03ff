"""
why: each rank takes a column of a padded table; the global generator is put back
exercise: 3.1
"""
import torch


def shard_indices(n, world_size, rank, *, shuffle=True, seed=0, epoch=0, drop_last=False):
    if n < 1:
        raise ValueError("n")
    if rank < 0 or rank >= world_size:
        raise ValueError("rank")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed + epoch)
        order = torch.randperm(n) if shuffle else torch.arange(n)
    if drop_last:
        order = order[: n // world_size * world_size]
    else:
        order = order.repeat(world_size)[: (n + world_size - 1) // world_size * world_size]
    return order.view(-1, world_size)[:, rank].tolist()
