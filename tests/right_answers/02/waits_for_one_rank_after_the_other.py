"""
why: store.wait for each rank in turn, with the time that is left
exercise: 2.6
"""
import time
from datetime import timedelta

import torch.distributed as dist


def init_with_deadline(host, port, rank, world_size, backend, timeout_s):
    end = time.monotonic() + timeout_s
    limit = timedelta(seconds=timeout_s)
    try:
        store = dist.TCPStore(host, port, None, rank == 0, limit, wait_for_workers=False)
    except dist.DistNetworkError as error:
        raise TimeoutError(f"Rank 0 does not listen at {host}:{port}") from error
    store.set(str(rank), "here")
    absent = []
    for other in range(world_size):
        left = max(end - time.monotonic(), 0.01)
        try:
            store.wait([str(other)], timedelta(seconds=left))
        except dist.DistStoreError:
            absent.append(other)
    if absent:
        raise TimeoutError(
            f"only {world_size - len(absent)}/{world_size} ranks at {host}:{port}, not there: "
            + ", ".join(map(str, absent))
        )
    dist.init_process_group(backend, store=store, rank=rank, world_size=world_size, timeout=limit)
