"""
symptom: the wrong machine is looked at: the last ranks are named, whoever is missing
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
    store.set(f"here {rank}", "")
    while True:
        came = sum(store.check([f"here {r}"]) for r in range(world_size))
        if came == world_size:
            break
        if time.monotonic() > deadline:
            missing = list(range(came, world_size))
            raise TimeoutError(f"{place}: {came} of {world_size} came, missing {missing}")
        time.sleep(0.02)
    dist.init_process_group(
        backend, store=store, rank=rank, world_size=world_size, timeout=timeout
    )
