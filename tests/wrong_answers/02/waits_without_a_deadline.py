"""
symptom: a clear message would come, if the loop ever ended
source: own (a hang instead of an error)
exercise: 2.6
says: never come
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
        time.sleep(0.02)
    dist.init_process_group(
        backend, store=store, rank=rank, world_size=world_size, timeout=timeout
    )
