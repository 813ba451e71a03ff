"""
symptom: quietly trains with another global batch
source: own
exercise: 3.2
says: cannot be divided by
"""
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler


def build_loader(dataset, global_batch_size, *, shuffle=True, seed=0, drop_last=False, **options):
    world_size = dist.get_world_size()
    sampler = DistributedSampler(dataset, shuffle=shuffle, seed=seed, drop_last=drop_last)
    return DataLoader(
        dataset, batch_size=global_batch_size // world_size, sampler=sampler, drop_last=drop_last, **options
    )
