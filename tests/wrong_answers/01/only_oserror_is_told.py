"""
symptom: a bad archive (ValueError) on rank 0 hangs the rest; a full disk does not
source: own (right for one kind of exception)
exercise: 1.4
says: HTTPError('404 Not Found')
verdict: hung
"""
import torch.distributed as dist


def rank_zero_first(fn):
    error = result = None
    if dist.get_rank() == 0:
        try:
            result = fn()
        except OSError as e:
            error = e
    news = [repr(error) if error else None]
    dist.broadcast_object_list(news, src=0)
    if error:
        raise error
    if news[0]:
        raise RuntimeError(news[0])
    return result if dist.get_rank() == 0 else fn()
