"""
symptom: rank=0 is taken for no rank at all
source: own
exercise: 3.5
says: process group is asked
"""
import torch.distributed as dist
from torch.utils.data import Sampler


class UnpaddedSampler(Sampler):
    def __init__(self, dataset, num_replicas=None, rank=None):
        num_replicas = dist.get_world_size() if num_replicas is None else num_replicas
        rank = rank or dist.get_rank()
        self.indices = range(rank, len(dataset), num_replicas)

    def __iter__(self):
        return iter(self.indices)

    def __len__(self):
        return len(self.indices)
