"""
symptom: effective batch grows with the number of ranks
source: course list of mistakes (per-rank batch left at the global batch)
exercise: 3.2
says: all of them together take
"""
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler


def build_loader(dataset, global_batch_size, *, shuffle=True, seed=0, drop_last=False, **options):
    world_size = dist.get_world_size()
    if global_batch_size % world_size:
        raise ValueError(f"{global_batch_size} samples on {world_size} ranks")
    sampler = DistributedSampler(dataset, shuffle=shuffle, seed=seed, drop_last=drop_last)
    return DataLoader(
        dataset, batch_size=global_batch_size, sampler=sampler, drop_last=drop_last, **options
    )
