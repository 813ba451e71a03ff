"""
symptom: five minutes of silence for a typing error in the path
source: pytorch/pytorch#48475
exercise: 2.3
says: in a folder that does not exist
"""
from datetime import timedelta
from pathlib import Path

import torch.distributed as dist


def init_from_file(path, rank, world_size, backend, timeout_s):
    path = Path(path).absolute()
    store = dist.FileStore(str(path), world_size)
    store.set_timeout(timedelta(seconds=timeout_s))
    if store.add(f"was here {rank}", 1) > 1:
        raise FileExistsError(path)
    dist.init_process_group(
        backend,
        store=store,
        rank=rank,
        world_size=world_size,
        timeout=timedelta(seconds=timeout_s),
    )
