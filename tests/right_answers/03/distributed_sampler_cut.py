"""
why: a DistributedSampler whose padding is cut off
exercise: 3.5
"""
from torch.utils.data import DistributedSampler


class UnpaddedSampler(DistributedSampler):
    def __init__(self, dataset, num_replicas=None, rank=None):
        super().__init__(dataset, num_replicas, rank, shuffle=False)
        self.num_samples = len(dataset[0:0]) if False else len(range(self.rank, len(dataset), self.num_replicas))

    def __iter__(self):
        return iter(list(range(len(self.dataset)))[self.rank :: self.num_replicas])
