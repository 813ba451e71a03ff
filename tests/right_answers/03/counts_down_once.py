"""
why: what is left out is left out in the first pass only, then forgotten
exercise: 3.7
"""
import itertools

import torch.distributed as dist


class _Once:
    def __init__(self, dataset, epoch, done, options, num_replicas, rank):
        self.n, self.epoch, self.skip, self.options = len(dataset), epoch, done, options
        self.world = dist.get_world_size() if num_replicas is None else num_replicas
        self.rank = dist.get_rank() if rank is None else rank

    def set_epoch(self, epoch):
        self.epoch = epoch

    def _all(self):
        drop_last = self.options["drop_last"]
        order = shard_indices(
            self.n, 1, 0, shuffle=self.options["shuffle"], seed=self.options["seed"], epoch=self.epoch
        )
        left = max(self.n - self.skip, 0)
        rounds = left // self.world if drop_last else -(-left // self.world)
        endless = itertools.chain(order[self.skip :], itertools.cycle(order))
        return list(itertools.islice(endless, rounds * self.world))

    def __iter__(self):
        mine = self._all()[self.rank :: self.world]
        self.skip = 0
        return iter(mine)

    def __len__(self):
        return len(self._all()) // self.world


def resume_sampler(
    dataset, epoch, samples_done, *, shuffle=True, seed=0, drop_last=False, num_replicas=None, rank=None
):
    options = {"shuffle": shuffle, "seed": seed, "drop_last": drop_last}
    return _Once(dataset, epoch, samples_done, options, num_replicas, rank)
