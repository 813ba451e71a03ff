"""Which samples are whose, in every epoch (lesson 03)."""

import torch
from torch import Tensor


def epoch_order(n: int, seed: int, epoch: int) -> Tensor:
    """The order of n samples in an epoch: the same on all ranks, another one in every epoch.

    Equals that of `DistributedSampler(shuffle=True)` after `set_epoch(epoch)`; an argument cannot be forgotten.
    Drawn on the CPU on purpose: the numbers do not depend on the kind of device.
    """
    return torch.randperm(n, generator=torch.Generator().manual_seed(seed + epoch))


def shard(order: Tensor, rank: int, world_size: int) -> Tensor:
    """Every world_size-th index of an order (n,), beginning with the rank's own.

    Ranks take turns, so that in each step all of them together see exactly the batch that one process would see.
    As with drop_last, the last n % world_size are left out: a rank with one sample more would wait for ever.
    """
    return order[: len(order) // world_size * world_size][rank::world_size]


def local_batches(mine: Tensor, local_batch: int) -> tuple[Tensor, ...]:
    """Cut one rank's indices into whole batches; a last, shorter one is left out.

    With equal batches the mean of the ranks' gradients, which is what DDP computes, is the gradient of the
    global batch. The shuffle leaves out other samples in every epoch.
    """
    return mine[: len(mine) // local_batch * local_batch].split(local_batch)
