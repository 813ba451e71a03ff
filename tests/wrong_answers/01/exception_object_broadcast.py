"""
symptom: a hang or another error when the exception cannot be pickled (urllib's HTTPError)
source: own (right for simple exceptions only)
exercise: 1.4
says: cannot pickle
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
    news = [error]
    dist.broadcast_object_list(news, src=0)
    if news[0] is not None:
        raise news[0]
    return result if dist.get_rank() == 0 else fn()
