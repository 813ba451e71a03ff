"""
symptom: rank 0's download failed, the others read a file that is not there
source: own (a swallowed exception)
exercise: 1.4
says: nobody told this rank
"""
import torch.distributed as dist


def rank_zero_first(fn):
    try:
        if dist.get_rank() == 0:
            return fn()
    finally:
        dist.barrier()
    return fn()
