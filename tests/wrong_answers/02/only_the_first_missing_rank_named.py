"""
symptom: one machine is repaired, then the next start names the next one
source: own
exercise: 2.6
says: without the missing rank
"""
import time
from datetime import timedelta

import torch.distributed as dist


def init_with_deadline(host, port, rank, world_size, backend, timeout_s):
    place, deadline = f"{host}:{port}", time.monotonic() + timeout_s
    timeout = timedelta(seconds=timeout_s)
    try:
        store = dist.TCPStore(
            host, port, is_master=rank == 0, timeout=timeout, wait_for_workers=False
        )
    except RuntimeError as error:
        raise TimeoutError(f"no answer at {place}: is rank 0 running?") from error
    keys = [f"here {r}" for r in range(world_size)]
    store.set(keys[rank], "")
    while not store.check(keys):
        if time.monotonic() > deadline:
            there = [store.check([key]) for key in keys]
            raise TimeoutError(
                f"{place}: {sum(there)} of {world_size} came, missing: rank {there.index(False)}"
            )
        time.sleep(0.02)
    dist.init_process_group(
        backend, store=store, rank=rank, world_size=world_size, timeout=timeout
    )
