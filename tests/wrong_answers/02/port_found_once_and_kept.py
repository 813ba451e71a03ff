"""
symptom: the second call returns a port that is in use by now
source: own (a cached value)
exercise: 2.4
says: kept
"""
import functools


@functools.cache
def cached_port():
    return find_free_port()


def share_free_port(store, rank):
    call = store.add(f"calls of {rank}", 1)
    if rank == 0:
        store.set(f"port {call}", str(cached_port()))
    return int(store.get(f"port {call}"))
