"""
symptom: the message names the right machine, but this is not where the rank has looked
source: course list of corrections (localhost on several machines)
exercise: 2.6
says: the host is fixed
"""
import time
from datetime import timedelta

import torch.distributed as dist


def init_with_deadline(host, port, rank, world_size, backend, timeout_s):
    place, deadline = f"{host}:{port}", time.monotonic() + timeout_s
    timeout = timedelta(seconds=timeout_s)
    try:
        store = dist.TCPStore(
            "localhost", port, is_master=rank == 0, timeout=timeout, wait_for_workers=False
        )
    except RuntimeError as error:
        raise TimeoutError(f"no answer at {place}: is rank 0 running?") from error
    keys = [f"here {r}" for r in range(world_size)]
    store.set(keys[rank], "")
    while not store.check(keys):
        if time.monotonic() > deadline:
            missing = [r for r, key in enumerate(keys) if not store.check([key])]
            came = world_size - len(missing)
            raise TimeoutError(f"{place}: {came} of {world_size} came, missing {missing}")
        time.sleep(0.02)
    dist.init_process_group(
        backend, store=store, rank=rank, world_size=world_size, timeout=timeout
    )
