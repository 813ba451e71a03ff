"""
symptom: ranks counted from 1 hang at init
source: course list of mistakes (rank starting from 1)
exercise: 2.2
says: rank=2, world_size=2
"""
from datetime import timedelta

import torch.distributed as dist


def init_from_tcp(host, port, rank, world_size, backend, timeout_s):
    dist.init_process_group(
        backend,
        init_method=f"tcp://{host}:{port}",
        rank=rank,
        world_size=world_size,
        timeout=timedelta(seconds=timeout_s),
    )
