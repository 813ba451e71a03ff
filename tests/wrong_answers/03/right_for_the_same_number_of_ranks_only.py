"""
symptom: on another number of ranks, samples are lost or come again
source: own
exercise: 3.7
says: same number of ranks
"""
from torch.utils.data import DistributedSampler


class _Rest(DistributedSampler):
    skip = 0

    def __iter__(self):
        mine = list(super().__iter__())
        return iter(mine[self.skip // self.num_replicas if self.epoch == self.interrupted else 0 :])

    def __len__(self):
        return len(list(iter(self)))


def resume_sampler(
    dataset, epoch, samples_done, *, shuffle=True, seed=0, drop_last=False, num_replicas=None, rank=None
):
    sampler = _Rest(dataset, num_replicas, rank, shuffle=shuffle, seed=seed, drop_last=drop_last)
    sampler.skip, sampler.interrupted = samples_done, epoch
    sampler.set_epoch(epoch)
    return sampler
