"""
why: a DistributedSampler that makes its order anew for the interrupted epoch
exercise: 3.7
"""
import torch
from torch.utils.data import DistributedSampler


class _Resumed(DistributedSampler):
    first, done = 0, 0

    def _rest(self):
        n, w = len(self.dataset), self.num_replicas
        generator = torch.Generator().manual_seed(self.seed + self.epoch)
        order = torch.randperm(n, generator=generator) if self.shuffle else torch.arange(n)
        rest = order[self.done :]
        if self.drop_last:
            rest = rest[: len(rest) // w * w]
        else:
            rest = torch.cat([rest, order.repeat(w)[: -len(rest) % w]])
        return rest[self.rank :: w].tolist()

    def __iter__(self):
        yield from self._rest() if self.epoch == self.first else super().__iter__()

    def __len__(self):
        return len(self._rest()) if self.epoch == self.first else super().__len__()


def resume_sampler(dataset, epoch, samples_done, *, num_replicas=None, rank=None, **options):
    sampler = _Resumed(dataset, num_replicas, rank, **options)
    sampler.first, sampler.done, sampler.epoch = epoch, samples_done, epoch
    return sampler
