"""
symptom: rank 0 stops with an error, the others hang
source: own
exercise: 3.2
says: raised nothing
"""
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler


def build_loader(dataset, global_batch_size, *, shuffle=True, seed=0, drop_last=False, **options):
    world_size = dist.get_world_size()
    if global_batch_size % world_size and dist.get_rank() == 0:
        raise ValueError(f"{global_batch_size} samples on {world_size} ranks")
    sampler = DistributedSampler(dataset, shuffle=shuffle, seed=seed, drop_last=drop_last)
    return DataLoader(
        dataset, batch_size=global_batch_size // world_size, sampler=sampler, drop_last=drop_last, **options
    )
