"""
why: a sampler that refills a Subset's indices when the epoch changes
exercise: 3.2
"""
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler, SequentialSampler, Subset


class _Refill(SequentialSampler):
    def __init__(self, subset, sampler):
        super().__init__(subset)
        self.subset, self.inner = subset, sampler
        self.set_epoch(0)

    def set_epoch(self, epoch):
        self.inner.set_epoch(epoch)
        self.subset.indices = list(self.inner)


def build_loader(dataset, global_batch_size, *, shuffle=True, seed=0, drop_last=False, **options):
    world_size = dist.get_world_size()
    if global_batch_size % world_size != 0:
        raise ValueError(f"global_batch_size={global_batch_size}, world_size={world_size}")
    inner = DistributedSampler(
        dataset, world_size, dist.get_rank(), shuffle=shuffle, seed=seed, drop_last=drop_last
    )
    subset = Subset(dataset, [])
    sampler = _Refill(subset, inner)
    return DataLoader(
        subset, sampler=sampler, batch_size=global_batch_size // world_size, drop_last=drop_last, **options
    )
