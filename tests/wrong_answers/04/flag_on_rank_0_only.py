"""
symptom: hang: one rank makes one more collective
source: own (kind: wrong on one rank only)
exercise: 4.7
says: waits in backward()
verdict: hung
"""
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


def wrap_with_unused(model):
    return DistributedDataParallel(model, find_unused_parameters=dist.get_rank() == 0)
