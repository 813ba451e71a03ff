"""
why: a marker file for each rank, beside a file:// address
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
    try:
        os.close(os.open(f"{path}.rank{rank}", os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        raise FileExistsError(f"an earlier run used {path}") from None
    dist.init_process_group(
        backend,
        init_method=path.as_uri(),
        rank=rank,
        world_size=world_size,
        timeout=timedelta(seconds=timeout_s),
    )
