"""
symptom: AttributeError: 'SequentialSampler' object has no attribute 'set_epoch'
source: course list of mistakes
exercise: 3.2
says: SequentialSampler
"""
import torch.distributed as dist
from torch.utils.data import BatchSampler, DataLoader, DistributedSampler


def build_loader(dataset, global_batch_size, *, shuffle=True, seed=0, drop_last=False, **options):
    world_size = dist.get_world_size()
    if global_batch_size % world_size:
        raise ValueError(f"{global_batch_size} samples on {world_size} ranks")
    sampler = DistributedSampler(dataset, shuffle=shuffle, seed=seed, drop_last=drop_last)
    batches = BatchSampler(sampler, global_batch_size // world_size, drop_last)
    return DataLoader(dataset, batch_sampler=batches, **options)
