"""
why: a plain socket knocks until rank 0 listens, then the store connects at once
exercise: 2.6
"""
import socket
import time
from datetime import timedelta

import torch.distributed as dist


def init_with_deadline(host, port, rank, world_size, backend, timeout_s):
    end = time.monotonic() + timeout_s
    while rank > 0:
        try:
            socket.create_connection((host, port), timeout=timeout_s).close()
            break
        except OSError as error:
            if time.monotonic() > end:
                raise TimeoutError(f"nobody at {host}:{port}; rank 0 should be") from error
            time.sleep(0.02)
    store = dist.TCPStore(
        host, port, is_master=rank == 0, timeout=timedelta(seconds=60), wait_for_workers=False
    )
    store.set(f"/{rank}", b"1")
    everyone = [f"/{r}" for r in range(world_size)]
    while not store.check(everyone):
        if time.monotonic() > end:
            late = [r for r in range(world_size) if not store.check([f"/{r}"])]
            raise TimeoutError(
                f"{host}:{port}: {world_size - len(late)} of {world_size} ranks, still missing {late}"
            )
        time.sleep(0.02)
    dist.init_process_group(
        backend, store=store, rank=rank, world_size=world_size, timeout=timedelta(seconds=timeout_s)
    )
