"""
symptom: IndexError in the loader, or wrong samples
source: own
exercise: 3.5
says: are no indices
"""
import torch.distributed as dist
from torch.utils.data import Sampler


class UnpaddedSampler(Sampler):
    def __init__(self, dataset, num_replicas=None, rank=None):
        num_replicas = dist.get_world_size() if num_replicas is None else num_replicas
        rank = dist.get_rank() if rank is None else rank
        self.indices = [dataset[i] for i in range(rank, len(dataset), num_replicas)]

    def __iter__(self):
        return iter(self.indices)

    def __len__(self):
        return len(self.indices)
