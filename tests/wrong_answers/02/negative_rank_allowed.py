"""
symptom: a rank of -2 from broken arithmetic waits until the timeout
source: own (checked at one end only)
exercise: 2.2
says: negative ranks
"""
from datetime import timedelta

import torch.distributed as dist


def init_from_tcp(host, port, rank, world_size, backend, timeout_s):
    if rank >= world_size:
        raise ValueError(f"rank {rank}")
    dist.init_process_group(
        backend,
        init_method=f"tcp://{host}:{port}",
        rank=rank,
        world_size=world_size,
        timeout=timedelta(seconds=timeout_s),
    )
