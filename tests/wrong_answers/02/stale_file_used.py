"""
symptom: after a crash the next start fails in a new way each time
source: course list of mistakes (file left by an earlier run; epfml/powersgd#21)
exercise: 2.3
says: earlier run
"""
from datetime import timedelta
from pathlib import Path

import torch.distributed as dist


def init_from_file(path, rank, world_size, backend, timeout_s):
    path = Path(path).absolute()
    if not path.parent.is_dir():
        raise FileNotFoundError(path.parent)
    dist.init_process_group(
        backend,
        init_method=f"file://{path}",
        rank=rank,
        world_size=world_size,
        timeout=timedelta(seconds=timeout_s),
    )
