"""
symptom: code that reads MASTER_ADDR later finds another value than the launcher set
source: own (well-known tutorials call this the TCP way)
exercise: 2.2
says: into the environment
"""
import os
from datetime import timedelta

import torch.distributed as dist


def init_from_tcp(host, port, rank, world_size, backend, timeout_s):
    if not 0 <= rank < world_size:
        raise ValueError(f"rank {rank}")
    os.environ["MASTER_ADDR"] = host
    os.environ["MASTER_PORT"] = str(port)
    dist.init_process_group(
        backend, rank=rank, world_size=world_size, timeout=timedelta(seconds=timeout_s)
    )
