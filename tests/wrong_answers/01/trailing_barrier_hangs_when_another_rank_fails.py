"""
symptom: rank 2's file is unreadable, ranks 0 and 1 wait for it until the timeout
source: own (the exception of the wrong rank considered)
exercise: 1.4
says: waits in barrier
verdict: hung
"""
import torch.distributed as dist


def rank_zero_first(fn):
    error = result = None
    if dist.get_rank() == 0:
        try:
            result = fn()
        except Exception as e:
            error = e
    news = [repr(error) if error else None]
    dist.broadcast_object_list(news, src=0)
    if error:
        raise error
    if news[0]:
        raise RuntimeError(news[0])
    if dist.get_rank() != 0:
        result = fn()
    dist.barrier()
    return result
