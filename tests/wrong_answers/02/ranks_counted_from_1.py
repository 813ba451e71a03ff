"""
symptom: rank 0 is refused
source: course list of mistakes (rank starting from 1)
exercise: 2.2
says: rank 0 raised ValueError
verdict: raised
"""
from datetime import timedelta

import torch.distributed as dist


def init_from_tcp(host, port, rank, world_size, backend, timeout_s):
    if not 1 <= rank <= world_size:
        raise ValueError(f"rank must be from 1 to {world_size}")
    dist.init_process_group(
        backend,
        init_method=f"tcp://{host}:{port}",
        rank=rank,
        world_size=world_size,
        timeout=timedelta(seconds=timeout_s),
    )
