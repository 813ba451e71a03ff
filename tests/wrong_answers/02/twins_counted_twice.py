"""
symptom: two processes have the same rank, and 'everybody' is there
source: own (a counter instead of names)
exercise: 2.6
says: counted as two
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
    store.add("arrived", 1)
    store.set(f"here {rank}", "")
    while store.add("arrived", 0) < world_size:
        if time.monotonic() > deadline:
            missing = [r for r in range(world_size) if not store.check([f"here {r}"])]
            came = store.add("arrived", 0)
            raise TimeoutError(f"{place}: {came} of {world_size} came, missing {missing}")
        time.sleep(0.02)
    dist.init_process_group(
        backend, store=store, rank=rank, world_size=world_size, timeout=timeout
    )
