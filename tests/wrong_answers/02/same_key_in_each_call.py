"""
symptom: the second group waits at the first group's port
source: own (right on the first call only)
exercise: 2.4
says: earlier call
"""
def share_free_port(store, rank):
    if rank == 0:
        store.set("port", str(find_free_port()))
    return int(store.get("port"))
