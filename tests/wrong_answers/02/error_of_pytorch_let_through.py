"""
symptom: 'wait timeout after 800ms, keys: ...' says neither who nor where
source: course list of mistakes (no clear error for a missing peer)
exercise: 2.6
says: should raise TimeoutError
"""
from datetime import timedelta

import torch.distributed as dist


def init_with_deadline(host, port, rank, world_size, backend, timeout_s):
    dist.init_process_group(
        backend,
        init_method=f"tcp://{host}:{port}",
        rank=rank,
        world_size=world_size,
        timeout=timedelta(seconds=timeout_s),
    )
