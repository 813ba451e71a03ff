"""
symptom: ValueError: sampler option is mutually exclusive with shuffle
source: course list of mistakes
exercise: 3.2
says: shuffle was passed to the DataLoader
"""
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler


def build_loader(dataset, global_batch_size, *, shuffle=True, seed=0, drop_last=False, **options):
    world_size = dist.get_world_size()
    if global_batch_size % world_size:
        raise ValueError(f"{global_batch_size} samples on {world_size} ranks")
    sampler = DistributedSampler(dataset, shuffle=shuffle, seed=seed, drop_last=drop_last)
    return DataLoader(
        dataset, batch_size=global_batch_size // world_size, sampler=sampler, shuffle=shuffle, drop_last=drop_last, **options
    )
