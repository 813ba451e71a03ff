"""
why: goes through the environment, and leaves it as it was
exercise: 2.2
"""
import os
from datetime import timedelta

import torch.distributed as dist


def init_from_tcp(host, port, rank, world_size, backend, timeout_s):
    if rank < 0 or rank >= world_size:
        raise ValueError("rank out of range")
    before = dict(os.environ)
    try:
        os.environ.update(MASTER_ADDR=host, MASTER_PORT=str(port))
        os.environ.update(RANK=str(rank), WORLD_SIZE=str(world_size))
        dist.init_process_group(backend, timeout=timedelta(seconds=timeout_s))
    finally:
        os.environ.clear()
        os.environ.update(before)
