"""
why: one counter for all ranks: more than world_size joined means an old file
exercise: 2.3
"""
import os
import time
from datetime import timedelta
from pathlib import Path

import torch.distributed as dist


def init_from_file(path, rank, world_size, backend, timeout_s):
    path = Path(path).absolute()
    if not path.parent.is_dir():
        raise FileNotFoundError(path.parent)
    store = dist.FileStore(str(path), world_size)
    store.set_timeout(timedelta(seconds=timeout_s))
    if store.add("joined", 1) > world_size:
        raise FileExistsError(f"{path} is old")
    dist.init_process_group(
        backend,
        store=store,
        rank=rank,
        world_size=world_size,
        timeout=timedelta(seconds=timeout_s),
    )
