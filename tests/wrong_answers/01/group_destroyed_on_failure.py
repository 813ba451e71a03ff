"""
symptom: no second try, Default process group has not been initialized
source: own (side effect left behind)
exercise: 1.4
says: something is left over from the failure
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
    if news[0]:
        dist.destroy_process_group()
        raise error or RuntimeError(news[0])
    return result if dist.get_rank() == 0 else fn()
