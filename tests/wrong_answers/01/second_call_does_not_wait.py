"""
symptom: the first dataset is right, the second is read half written
source: own (right on the first call only)
exercise: 1.4
says: does not wait
"""
import torch.distributed as dist

_done = False


def rank_zero_first(fn):
    global _done
    error = result = None
    if dist.get_rank() == 0:
        try:
            result = fn()
        except Exception as e:
            error = e
    if not _done:
        news = [repr(error) if error else None]
        dist.broadcast_object_list(news, src=0)
        if error:
            raise error
        if news[0]:
            raise RuntimeError(news[0])
        _done = True
    return result if dist.get_rank() == 0 else fn()
