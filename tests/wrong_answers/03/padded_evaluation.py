"""
symptom: 10 samples become 12 in evaluation
source: pytorch/pytorch#25162
exercise: 3.5
says: counts samples twice
"""
from torch.utils.data import DistributedSampler


class UnpaddedSampler(DistributedSampler):
    def __init__(self, dataset, num_replicas=None, rank=None):
        super().__init__(dataset, num_replicas, rank, shuffle=False)
