"""
why: all ranks compare the number of samples first
exercise: 3.2
"""
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler


def build_loader(dataset, global_batch_size, *, shuffle=True, seed=0, drop_last=False, **options):
    sizes = [None] * dist.get_world_size()
    dist.all_gather_object(sizes, (len(dataset), global_batch_size))
    if len(set(sizes)) > 1 or global_batch_size % len(sizes):
        raise ValueError(f"ranks have {sizes}; {global_batch_size} must be a multiple of {len(sizes)}")
    options.setdefault("num_workers", 0)
    options["drop_last"] = drop_last
    options["sampler"] = DistributedSampler(dataset, shuffle=shuffle, seed=seed, drop_last=drop_last)
    return DataLoader(dataset, int(global_batch_size / len(sizes)), **options)
