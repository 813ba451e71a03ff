"""
symptom: unequal lengths near the end of an epoch
source: own
exercise: 3.7
says: whole order has only 5
"""
import itertools

import torch.distributed as dist
from torch.utils.data import Sampler


class _Rest(Sampler):
    def __init__(self, n, epoch, samples_done, shuffle, seed, drop_last, world_size, rank):
        self.n, self.world_size, self.rank = n, world_size, rank
        self.epoch = self.interrupted = epoch
        self.done, self.shuffle, self.seed, self.drop_last = samples_done, shuffle, seed, drop_last

    def set_epoch(self, epoch):
        self.epoch = epoch

    def indices(self):
        order = shard_indices(self.n, 1, 0, shuffle=self.shuffle, seed=self.seed, epoch=self.epoch)
        rest = order[self.done if self.epoch == self.interrupted else 0 :]
        if self.drop_last:
            rest = rest[: len(rest) - len(rest) % self.world_size]
        else:
            rest = rest + order[: -len(rest) % self.world_size]
        return rest[self.rank :: self.world_size]

    def __iter__(self):
        return iter(self.indices())

    def __len__(self):
        return len(self.indices())


def resume_sampler(
    dataset, epoch, samples_done, *, shuffle=True, seed=0, drop_last=False, num_replicas=None, rank=None
):
    world_size = dist.get_world_size() if num_replicas is None else num_replicas
    rank = dist.get_rank() if rank is None else rank
    return _Rest(len(dataset), epoch, samples_done, shuffle, seed, drop_last, world_size, rank)
