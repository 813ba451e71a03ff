"""
symptom: the job hangs at the start
source: course list of mistakes
exercise: 1.4
says: waits in barrier
verdict: hung
"""
import torch.distributed as dist


def rank_zero_first(fn):
    if dist.get_rank() == 0:
        result = fn()
        dist.barrier()
        return result
    return fn()
