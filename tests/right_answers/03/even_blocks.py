"""
why: blocks, of lengths that differ by one at most
exercise: 3.5
"""
import numpy as np
import torch.distributed as dist


class UnpaddedSampler:
    def __init__(self, dataset, num_replicas=None, rank=None):
        if num_replicas is None:
            num_replicas = dist.get_world_size()
        if rank is None:
            rank = dist.get_rank()
        self.mine = np.array_split(np.arange(len(dataset)), num_replicas)[rank]

    def __iter__(self):
        return (int(index) for index in self.mine)

    def __len__(self):
        return self.mine.size
