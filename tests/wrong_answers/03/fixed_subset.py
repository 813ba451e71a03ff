"""
symptom: set_epoch is missing, every epoch has the same order
source: course list of mistakes (set_epoch forgotten)
exercise: 3.2
says: set_epoch
"""
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler, Subset


def build_loader(dataset, global_batch_size, *, shuffle=True, seed=0, drop_last=False, **options):
    world_size = dist.get_world_size()
    if global_batch_size % world_size:
        raise ValueError(f"{global_batch_size} samples on {world_size} ranks")
    mine = Subset(dataset, list(DistributedSampler(dataset, shuffle=shuffle, seed=seed, drop_last=drop_last)))
    return DataLoader(mine, global_batch_size // world_size, drop_last=drop_last, **options)
