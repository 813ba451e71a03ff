"""
why: every rank proposes a port, compare_set keeps the first
exercise: 2.4
"""
import torch.distributed as dist


def share_free_port(store, rank):
    call = store.add(f"calls of {rank}", 1)
    return int(store.compare_set(f"port {call}", "", str(find_free_port())).decode())
