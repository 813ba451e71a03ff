"""
why: the group's key-value store carries the message, no collective at all
exercise: 1.4
"""
import itertools

import torch.distributed as dist
from torch.distributed.distributed_c10d import _get_default_store

_numbers = itertools.count()


def rank_zero_first(fn):
    store, key = _get_default_store(), f"rank_zero_first/{next(_numbers)}"
    if dist.get_rank() == 0:
        try:
            result = fn()
        except Exception as error:
            store.set(key, f"failed: {error}")
            raise
        store.set(key, "ok")
        return result
    if (news := store.get(key).decode()) != "ok":
        raise RuntimeError(f"rank 0 {news}")
    return fn()
