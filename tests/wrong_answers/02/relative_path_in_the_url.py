"""
symptom: ValueError: path missing, for a relative path
source: own
exercise: 2.3
says: path missing
verdict: raised
"""
from datetime import timedelta
from pathlib import Path

import torch.distributed as dist


def init_from_file(path, rank, world_size, backend, timeout_s):
    if not Path(path).absolute().parent.is_dir():
        raise FileNotFoundError(path)
    dist.init_process_group(
        backend,
        init_method=f"file://{path}",
        rank=rank,
        world_size=world_size,
        timeout=timedelta(seconds=timeout_s),
    )
