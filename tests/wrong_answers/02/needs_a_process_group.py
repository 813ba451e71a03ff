"""
symptom: the port is wanted to make the group, and its function needs a group
source: own
exercise: 2.4
says: rank
verdict: raised
"""
import torch.distributed as dist


def share_free_port(store, rank):
    ports = [find_free_port()]
    dist.broadcast_object_list(ports, src=0)
    return ports[0]
