"""
symptom: right with two ranks; with three, rank 2 does not wait
source: own (right at world size 2, wrong at 3)
exercise: 1.4
says: does not wait
"""
import torch.distributed as dist


def rank_zero_first(fn):
    rank = dist.get_rank()
    if rank == 0:
        error = result = None
        try:
            result = fn()
        except Exception as e:
            error = e
        if dist.get_world_size() > 1:
            dist.send_object_list([repr(error) if error else None], dst=1)
        if error:
            raise error
        return result
    if rank == 1:
        news = [None]
        dist.recv_object_list(news, src=0)
        if news[0]:
            raise RuntimeError(news[0])
    return fn()
