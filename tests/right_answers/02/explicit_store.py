"""
why: a TCPStore passed as store= instead of an init_method
exercise: 2.2
"""
from datetime import timedelta

import torch.distributed as dist


def init_from_tcp(host, port, rank, world_size, backend, timeout_s):
    if rank not in range(world_size):
        raise ValueError(f"no rank {rank} in a world of {world_size}")
    limit = timedelta(seconds=timeout_s)
    store = dist.TCPStore(host, port, world_size=world_size, is_master=not rank, timeout=limit)
    dist.init_process_group(backend, store=store, rank=rank, world_size=world_size, timeout=limit)
