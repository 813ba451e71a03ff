"""
symptom: rank 0 reports the error, the others hang
source: own (a hang instead of an error)
exercise: 3.2
says: left without entering
verdict: hung
"""
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler


def build_loader(dataset, global_batch_size, *, shuffle=True, seed=0, drop_last=False, **options):
    world_size = dist.get_world_size()
    if dist.get_rank() == 0 and global_batch_size % world_size:
        raise ValueError(f"{global_batch_size} samples on {world_size} ranks")
    dist.barrier()
    sampler = DistributedSampler(dataset, shuffle=shuffle, seed=seed, drop_last=drop_last)
    return DataLoader(
        dataset, batch_size=global_batch_size // world_size, sampler=sampler, drop_last=drop_last, **options
    )
