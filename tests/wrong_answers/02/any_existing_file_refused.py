"""
symptom: the ranks that come second are refused: the first one has made the file
source: own (right for the first rank only)
exercise: 2.3
says: FileExistsError
verdict: raised
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
    if path.exists():
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
