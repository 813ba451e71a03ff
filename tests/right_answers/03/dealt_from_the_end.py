"""
why: a generator that deals backwards; the last rank gets the larger part
exercise: 3.5
"""
import torch.distributed as dist
from torch.utils.data import Sampler


class UnpaddedSampler(Sampler):
    def __init__(self, dataset, num_replicas=None, rank=None):
        self.dataset = dataset
        self.world = num_replicas if num_replicas is not None else dist.get_world_size()
        self.rank = rank if rank is not None else dist.get_rank()

    def __iter__(self):
        index = len(self.dataset) - self.world + self.rank
        while index >= 0:
            yield index
            index -= self.world

    def __len__(self):
        return (len(self.dataset) + self.rank) // self.world
