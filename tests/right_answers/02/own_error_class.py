"""
why: a subclass of ValueError, and a store of its own
exercise: 2.1
"""
import os
from datetime import timedelta

import torch.distributed as dist


class NoLauncher(ValueError):
    pass


def init_from_env(backend, timeout_s):
    unset = {"RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"} - {k for k, v in os.environ.items() if v}
    if unset:
        raise NoLauncher(*unset)
    rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    store = dist.TCPStore(
        os.environ["MASTER_ADDR"],
        int(os.environ["MASTER_PORT"]),
        size,
        rank == 0,
        timeout=timedelta(seconds=timeout_s),
    )
    dist.init_process_group(
        backend, store=store, rank=rank, world_size=size, timeout=timedelta(seconds=timeout_s)
    )
