"""
why: a flag by all_reduce, all ranks raise one RuntimeError that quotes the reason
exercise: 1.4
"""
import torch
import torch.distributed as dist

from ddp_grader import device


def rank_zero_first(fn):
    failed = torch.zeros(1, device=device())
    text = result = None
    if dist.get_rank() == 0:
        try:
            result = fn()
        except Exception as error:
            text, cause = f"{error!r} on rank 0", error
            failed += 1
    dist.all_reduce(failed)
    if failed.item():
        if dist.get_rank() == 0:
            raise RuntimeError(text) from cause
        raise RuntimeError("rank 0 failed, see its log")
    if dist.get_rank() != 0:
        result = fn()
    return result
