"""
symptom: every rank works through the whole data set
source: course list of mistakes
exercise: 3.2
says: no sampler that shares them out
"""
import torch.distributed as dist
from torch.utils.data import DataLoader


def build_loader(dataset, global_batch_size, *, shuffle=True, seed=0, drop_last=False, **options):
    world_size = dist.get_world_size()
    if global_batch_size % world_size:
        raise ValueError(f"{global_batch_size} samples on {world_size} ranks")
    return DataLoader(dataset, global_batch_size // world_size, shuffle=shuffle, drop_last=drop_last, **options)
