"""
symptom: the progress bar never reaches its end
source: own
exercise: 3.5
says: rounded up
"""
import torch.distributed as dist
from torch.utils.data import Sampler


class UnpaddedSampler(Sampler):
    def __init__(self, dataset, num_replicas=None, rank=None):
        num_replicas = dist.get_world_size() if num_replicas is None else num_replicas
        rank = dist.get_rank() if rank is None else rank
        self.length = -(-len(dataset) // num_replicas)
        self.indices = range(rank, len(dataset), num_replicas)

    def __iter__(self):
        return iter(self.indices)

    def __len__(self):
        return self.length
