"""
symptom: the last rank has next to nothing to do
source: own
exercise: 3.5
says: much less to do
"""
import math

import torch.distributed as dist
from torch.utils.data import Sampler


class UnpaddedSampler(Sampler):
    def __init__(self, dataset, num_replicas=None, rank=None):
        num_replicas = dist.get_world_size() if num_replicas is None else num_replicas
        rank = dist.get_rank() if rank is None else rank
        size = math.ceil(len(dataset) / num_replicas)
        self.indices = range(len(dataset))[rank * size : (rank + 1) * size]

    def __iter__(self):
        return iter(self.indices)

    def __len__(self):
        return len(self.indices)
