"""
why: rank 0 opens a store at port 0 and keeps it, so that nobody can take the port
exercise: 2.4
"""
import torch.distributed as dist

open_stores = []


def share_free_port(store, rank):
    call = store.add(f"calls of {rank}", 1)
    mine = dist.PrefixStore(f"call {call}", store)
    if rank == 0:
        open_stores.append(dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False))
        mine.set("port", str(open_stores[-1].port))
    return int(mine.get("port").decode())
