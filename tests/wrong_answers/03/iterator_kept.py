"""
symptom: the second evaluation has no samples
source: own
exercise: 3.5
says: can be used once
"""
import torch.distributed as dist
from torch.utils.data import Sampler


class UnpaddedSampler(Sampler):
    def __init__(self, dataset, num_replicas=None, rank=None):
        num_replicas = dist.get_world_size() if num_replicas is None else num_replicas
        rank = dist.get_rank() if rank is None else rank
        self.indices = range(rank, len(dataset), num_replicas)
        self.iterator = iter(self.indices)

    def __iter__(self):
        return self.iterator

    def __len__(self):
        return len(self.indices)
