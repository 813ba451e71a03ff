"""
symptom: training goes on with None for a dataset
source: own (a swallowed exception)
exercise: 1.4
says: the exception was swallowed
"""
import torch.distributed as dist


def rank_zero_first(fn):
    result = None
    if dist.get_rank() == 0:
        try:
            result = fn()
        except Exception as error:
            print(f"download failed: {error}")
    dist.barrier()
    return result if dist.get_rank() == 0 else fn()
