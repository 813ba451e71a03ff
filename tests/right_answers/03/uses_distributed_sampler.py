"""
why: PyTorch's class does the work
exercise: 3.1
"""
from torch.utils.data import DistributedSampler


def shard_indices(n, world_size, rank, *, shuffle=True, seed=0, epoch=0, drop_last=False):
    if n <= 0:
        raise ValueError("no samples")
    sampler = DistributedSampler(range(n), world_size, rank, shuffle=shuffle, seed=seed, drop_last=drop_last)
    sampler.set_epoch(epoch)
    return [index for index in sampler]
