"""The process group: made with a timeout, destroyed by all ranks together (lesson 02)."""

import gc
import os
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

import torch
import torch.distributed as dist

# DDP imports this at its first use. Its functions have the group of that moment as a default argument and would
# keep it alive for ever; now there is none yet.
import torch.distributed.nn

from ddp_reference.errors import UserError
from ddp_reference.ranks import Ranks


@dataclass(frozen=True)
class World:
    """All that most functions need to know about the ranks, while the group exists."""

    rank: int
    size: int
    device: torch.device  # where this rank's tensors live
    backend: str  # gloo for the CPU, nccl for CUDA, xccl for Intel's GPUs

    def raise_together(self, error: Exception | None) -> None:
        """Raise a UserError on every rank if `error` is not None on some rank. All ranks call it.

        A rank that raises alone leaves the others waiting in their next collective.
        """
        messages: list[str | None] = [None] * self.size
        dist.all_gather_object(messages, None if error is None else str(error))
        for rank, message in enumerate(messages):
            if message is not None:
                raise UserError(f"rank {rank}: {message}") from error


@contextmanager
def process_group(ranks: Ranks, device: torch.device, timeout_s: float) -> Iterator[World]:
    """Make the default process group, and destroy it when all ranks leave it together.

    A process that no launcher started gets a group of one. So there is one path through the program, and the
    path that is tested in one process is the path that runs on many.

    All ranks leave together at the end, and by a UserError, which they all raise. Any other exception is one
    rank's own: destroying the group would make it wait for ranks that wait for it
    (https://github.com/pytorch/torchtitan/pull/1342). It leaves at once instead, which closes its connections,
    and torchrun ends the others.

    Raises UserError if the other ranks do not come within timeout_s seconds.
    """
    backend = dist.get_default_backend_for_device(device)
    alone = {} if ranks.launched else {"store": dist.HashStore(), "rank": 0, "world_size": 1}
    try:
        dist.init_process_group(
            backend,
            timeout=timedelta(seconds=timeout_s),
            # Binds NCCL to this GPU now: a wrong set-up fails here, not in the first collective.
            device_id=None if device.type == "cpu" else device,
            **alone,
        )
    except (dist.DistStoreError, dist.DistNetworkError) as error:
        address = f"{os.environ.get('MASTER_ADDR')}:{os.environ.get('MASTER_PORT')}"
        raise UserError(
            f"rank {ranks.rank} did not meet all {ranks.world_size} ranks at {address} within "
            f"{timeout_s:g} s; is one missing, or was one started with another address? ({error})",
            shared=False,
        ) from error
    try:
        yield World(ranks.rank, ranks.world_size, device, backend)
    except UserError as error:
        traceback.clear_frames(error.__traceback__)  # else it holds the model, see _destroy_group
        _destroy_group()
        raise
    _destroy_group()


def _destroy_group() -> None:
    """Destroy the group and wait for its threads to end. All ranks come here together.

    A DDP model that is still referenced keeps the group, and Gloo's threads, alive. A thread that then lets go
    of a tensor while Python is shutting down ends the process with `terminate called without an active
    exception` (https://github.com/pytorch/pytorch/pull/179291).
    """
    gc.collect()  # a DDP model contains reference cycles
    # Before torch 2.8 this thread keeps the GIL while it waits for those, which may need it to let go of a tensor
    # (https://github.com/pytorch/pytorch/pull/154976). They get it now.
    time.sleep(0.1)
    dist.destroy_process_group()
