"""
symptom: a variable left from an earlier job decides, not the arguments
source: own
exercise: 2.2
says: failed to listen on any local network address
"""
import os
from datetime import timedelta

import torch.distributed as dist


def init_from_tcp(host, port, rank, world_size, backend, timeout_s):
    if not 0 <= rank < world_size:
        raise ValueError(f"rank {rank}")
    world_size = int(os.environ.get("WORLD_SIZE", world_size))
    rank = int(os.environ.get("RANK", rank))
    port = int(os.environ.get("MASTER_PORT", port))
    dist.init_process_group(
        backend,
        init_method=f"tcp://{host}:{port}",
        rank=rank,
        world_size=world_size,
        timeout=timedelta(seconds=timeout_s),
    )
