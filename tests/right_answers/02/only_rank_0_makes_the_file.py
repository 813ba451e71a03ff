"""
why: rank 0 makes the file and refuses an old one; the others wait for a welcome from a living rank 0
exercise: 2.3
"""
import os
import time
import uuid
from datetime import timedelta
from pathlib import Path

import torch.distributed as dist


def init_from_file(path, rank, world_size, backend, timeout_s):
    path = Path(path).absolute()
    if not path.parent.is_dir():
        raise FileNotFoundError(path.parent)
    deadline = time.monotonic() + timeout_s
    if rank == 0:
        path.touch(exist_ok=False)
    while not path.exists():
        if time.monotonic() > deadline:
            raise TimeoutError(f"rank 0 has not made {path}")
        time.sleep(0.01)
    limit = timedelta(seconds=timeout_s)
    store = dist.FileStore(os.fspath(path), world_size)
    store.set_timeout(limit)
    if rank == 0:
        for other in range(1, world_size):
            store.set(f"welcome {store.get(f'knock {other}').decode()}", "")
    else:
        knock = uuid.uuid4().hex
        store.set(f"knock {rank}", knock)
        store.wait([f"welcome {knock}"], limit)
    dist.init_process_group(backend, store=store, rank=rank, world_size=world_size, timeout=limit)
