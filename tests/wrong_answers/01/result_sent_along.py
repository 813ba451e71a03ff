"""
symptom: cannot pickle an open file, on rank 0, and a hang on the others
source: own (right for simple results only)
exercise: 1.4
says: pickle
"""
import torch.distributed as dist


def rank_zero_first(fn):
    error = result = None
    if dist.get_rank() == 0:
        try:
            result = fn()
        except Exception as e:
            error = e
    news = [{"error": repr(error) if error else None, "result": result}]
    dist.broadcast_object_list(news, src=0)
    if error:
        raise error
    if news[0]["error"]:
        raise RuntimeError(news[0]["error"])
    return result if dist.get_rank() == 0 else fn()
