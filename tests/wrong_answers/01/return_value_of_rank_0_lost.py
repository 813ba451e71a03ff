"""
symptom: AttributeError on rank 0 only (NoneType)
source: own (wrong on one rank only)
exercise: 1.4
says: return value of fn was lost
"""
import torch.distributed as dist


def rank_zero_first(fn):
    error = None
    if dist.get_rank() == 0:
        try:
            fn()
        except Exception as e:
            error = e
    news = [repr(error) if error else None]
    dist.broadcast_object_list(news, src=0)
    if error:
        raise error
    if news[0]:
        raise RuntimeError(news[0])
    if dist.get_rank() != 0:
        return fn()
