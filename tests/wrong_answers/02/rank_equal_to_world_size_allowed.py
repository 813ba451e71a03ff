"""
symptom: the last process waits for a group that has no place for it
source: course list of mistakes (world_size off by one)
exercise: 2.2
says: rank=2, world_size=2
"""
from datetime import timedelta

import torch.distributed as dist


def init_from_tcp(host, port, rank, world_size, backend, timeout_s):
    if rank < 0 or rank > world_size:
        raise ValueError(f"rank {rank}")
    dist.init_process_group(
        backend,
        init_method=f"tcp://{host}:{port}",
        rank=rank,
        world_size=world_size,
        timeout=timedelta(seconds=timeout_s),
    )
