"""
symptom: TypeError later, where the port is used
source: own
exercise: 2.4
says: bytes
"""
def share_free_port(store, rank):
    call = store.add(f"calls of {rank}", 1)
    if rank == 0:
        store.set(f"port {call}", str(find_free_port()))
    return store.get(f"port {call}")
