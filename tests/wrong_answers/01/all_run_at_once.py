"""
symptom: all ranks download to the same path; the file is corrupt
source: own (barrier after instead of between)
exercise: 1.4
says: does not wait
"""
import torch.distributed as dist


def rank_zero_first(fn):
    try:
        return fn()
    finally:
        dist.barrier()
