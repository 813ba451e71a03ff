"""Which samples are whose, in every epoch (lesson 03).

The order equals that of `DistributedSampler(shuffle=True, drop_last=True)` after
`set_epoch(epoch)`. Here the epoch is an argument, which nobody can forget to set.
"""

import torch
from torch import Tensor


def epoch_generator(seed: int, epoch: int) -> torch.Generator:
    """A source of random numbers that is the same on every rank and differs in every epoch.

    On the CPU on purpose: its numbers do not depend on the kind of device.
    """
    return torch.Generator().manual_seed(seed + epoch)


def shard(order: Tensor, rank: int, world_size: int) -> Tensor:
    """Every world_size-th index, beginning with the rank's own.

    Ranks take turns, so that step by step all ranks together see exactly the batches that one
    process would see: a run means the same at every world size.

    Args:
        order: Indices of one epoch, of shape (n,), the same on all ranks.

    Returns:
        n // world_size indices. The last n % world_size of the order are left out, because a
        rank with one sample more would wait for the others for ever.
    """
    return order[: len(order) // world_size * world_size][rank::world_size]


def local_batches(mine: Tensor, local_batch: int) -> tuple[Tensor, ...]:
    """Cut one rank's indices into whole batches; a last, shorter one is left out.

    With equal batches the mean of the ranks' gradients, which is what DDP computes, is the
    gradient of the global batch. The shuffle leaves out other samples in every epoch.
    """
    return mine[: len(mine) // local_batch * local_batch].split(local_batch)
