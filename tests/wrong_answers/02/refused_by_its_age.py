"""
symptom: a job that crashed and is started again at once finds its own old file
source: own
exercise: 2.3
says: earlier run
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
    if path.exists() and time.time() - os.path.getmtime(path) > 60:
        raise FileExistsError(path)
    store = dist.FileStore(str(path), world_size)
    store.set_timeout(timedelta(seconds=timeout_s))
    dist.init_process_group(
        backend,
        store=store,
        rank=rank,
        world_size=world_size,
        timeout=timedelta(seconds=timeout_s),
    )
