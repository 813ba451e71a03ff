"""
symptom: '2 of 512 ranks are missing', and nobody knows which
source: own
exercise: 2.6
says: expected '3 of 5'
"""
from datetime import timedelta

import torch.distributed as dist


def init_with_deadline(host, port, rank, world_size, backend, timeout_s):
    try:
        dist.init_process_group(
            backend,
            init_method=f"tcp://{host}:{port}",
            rank=rank,
            world_size=world_size,
            timeout=timedelta(seconds=timeout_s),
        )
    except RuntimeError as error:
        raise TimeoutError(f"rank {rank} waited at {host}:{port} for rank 0 and others: {error}") from error
