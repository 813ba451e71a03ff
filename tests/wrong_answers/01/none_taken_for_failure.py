"""
symptom: a function without a return value counts as failed
source: own (a falsy value mistaken)
exercise: 1.4
says: TypeError
verdict: raised
"""
import torch
import torch.distributed as dist


def rank_zero_first(fn):
    error = result = None
    if dist.get_rank() == 0:
        try:
            result = fn()
        except Exception as e:
            error = e
    ok = [result is not None]
    dist.broadcast_object_list(ok, src=0)
    if not ok[0]:
        raise error if dist.get_rank() == 0 else RuntimeError("rank 0 failed")
    return result if dist.get_rank() == 0 else fn()
