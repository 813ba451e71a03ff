"""
why: DistributedSampler knows its own length
exercise: 3.4
"""
from torch.utils.data import DistributedSampler


def padding_count(n, world_size):
    return DistributedSampler(range(n), num_replicas=world_size, rank=0).total_size - n
