"""
why: a counter of calls in the module instead of the store
exercise: 2.4
"""
import itertools

numbers = itertools.count()


def share_free_port(store, rank):
    key = f"port/{next(numbers)}"
    if rank:
        return int(store.get(key).decode("ascii"))
    port = find_free_port()
    store.set(key, f"{port}")
    return port
