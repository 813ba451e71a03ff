"""
symptom: up to world_size - 1 samples are never evaluated
source: pytorch/pytorch#41171
exercise: 3.5
says: was left out
"""
import torch.distributed as dist
from torch.utils.data import Sampler


class UnpaddedSampler(Sampler):
    def __init__(self, dataset, num_replicas=None, rank=None):
        num_replicas = dist.get_world_size() if num_replicas is None else num_replicas
        rank = dist.get_rank() if rank is None else rank
        self.indices = range(rank, len(dataset) // num_replicas * num_replicas, num_replicas)

    def __iter__(self):
        return iter(self.indices)

    def __len__(self):
        return len(self.indices)
