"""
why: two rounds of all_gather_object, stricter than asked, all ranks raise if any did
exercise: 1.4
"""
import torch.distributed as dist


def rank_zero_first(fn):
    result = None
    for turn in (True, False):
        error = None
        if (dist.get_rank() == 0) is turn:
            try:
                result = fn()
            except Exception as e:
                error = e
        texts = [None] * dist.get_world_size()
        dist.all_gather_object(texts, None if error is None else str(error))
        if error is not None:
            raise error
        if any(text is not None for text in texts):
            raise RuntimeError(f"another rank failed: {texts}")
    return result
