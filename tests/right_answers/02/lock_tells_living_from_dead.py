"""
why: locks die with their process: the first living rank deletes what the dead left
exercise: 2.3
"""
import fcntl
import os
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import torch.distributed as dist


def init_from_file(path, rank, world_size, backend, timeout_s):
    path = Path(path).absolute()
    # Never closed: the lock lasts as long as this process. Raises FileNotFoundError without folder.
    lock = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT)
    with suppress(BlockingIOError):
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        path.unlink(missing_ok=True)
    fcntl.flock(lock, fcntl.LOCK_SH)
    dist.init_process_group(
        backend,
        init_method=f"file://{path}",
        rank=rank,
        world_size=world_size,
        timeout=timedelta(seconds=timeout_s),
    )
