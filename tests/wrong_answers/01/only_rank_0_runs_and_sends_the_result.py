"""
symptom: what fn opens on rank 0 cannot be sent, and a path on another machine means nothing
source: own
exercise: 1.4
says: how often fn ran
"""
import torch.distributed as dist


def rank_zero_first(fn):
    box = [None, None]
    if dist.get_rank() == 0:
        try:
            box[0] = fn()
        except Exception as e:
            box[1] = repr(e)
    dist.broadcast_object_list(box, src=0)
    if box[1] is not None:
        raise RuntimeError(box[1])
    return box[0]
