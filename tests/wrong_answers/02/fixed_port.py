"""
symptom: EADDRINUSE as soon as a second job runs on the machine
source: course list of mistakes (fixed port; pytorch/pytorch#126510)
exercise: 2.2
says: port
"""
from datetime import timedelta

import torch.distributed as dist


def init_from_tcp(host, port, rank, world_size, backend, timeout_s):
    if not 0 <= rank < world_size:
        raise ValueError(f"rank {rank}")
    dist.init_process_group(
        backend,
        init_method=f"tcp://{host}:12355",
        rank=rank,
        world_size=world_size,
        timeout=timedelta(seconds=timeout_s),
    )
