"""
why: a counter for each rank, read by adding 0; own subclass of TimeoutError
exercise: 2.6
"""
import time
from datetime import timedelta

import torch.distributed as dist


class PeersMissing(TimeoutError):
    pass


def init_with_deadline(host, port, rank, world_size, backend, timeout_s):
    limit = timedelta(seconds=timeout_s)
    started = time.monotonic()
    try:
        store = dist.TCPStore(
            host_name=host, port=port, is_master=rank == 0, timeout=limit, wait_for_workers=False
        )
    except RuntimeError as error:
        raise PeersMissing(f"rank 0 ({host}:{port}) cannot be reached") from error
    store.add(f"n{rank}", 1)
    while True:
        counts = [store.add(f"n{r}", 0) for r in range(world_size)]
        if all(counts):
            break
        if time.monotonic() - started > timeout_s:
            gone = " ".join(f"rank {r}" for r, n in enumerate(counts) if n == 0)
            here = world_size - counts.count(0)
            raise PeersMissing(f"{here} out of {world_size} at {host}:{port}; without {gone}")
        time.sleep(0.01)
    dist.init_process_group(backend, store=store, rank=rank, world_size=world_size, timeout=limit)
