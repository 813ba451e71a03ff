"""
symptom: a missing rank is noticed after five minutes, whatever the timeout
source: own
exercise: 2.3
says: timeout_s does not arrive
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
    if store.add(f"was here {rank}", 1) > 1:
        raise FileExistsError(path)
    store.get(f"was here {(rank + 1) % world_size}")  # until my neighbour has come
    dist.init_process_group(
        backend,
        store=store,
        rank=rank,
        world_size=world_size,
        timeout=timedelta(seconds=timeout_s),
    )
