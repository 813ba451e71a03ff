"""
symptom: with two machines, the second one waits for rank 0 at home
source: course list of corrections (localhost on several machines)
exercise: 2.2
says: the host is fixed
"""
from datetime import timedelta

import torch.distributed as dist


def init_from_tcp(host, port, rank, world_size, backend, timeout_s):
    if not 0 <= rank < world_size:
        raise ValueError(f"rank {rank}")
    dist.init_process_group(
        backend,
        init_method=f"tcp://localhost:{port}",
        rank=rank,
        world_size=world_size,
        timeout=timedelta(seconds=timeout_s),
    )
