"""
symptom: works if rank 0 comes first, hangs if it comes later
source: own (right for one order only)
exercise: 2.3
says: deleting the file
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
    if rank == 0:
        path.unlink(missing_ok=True)
    store = dist.FileStore(str(path), world_size)
    store.set_timeout(timedelta(seconds=timeout_s))
    dist.init_process_group(
        backend,
        store=store,
        rank=rank,
        world_size=world_size,
        timeout=timedelta(seconds=timeout_s),
    )
