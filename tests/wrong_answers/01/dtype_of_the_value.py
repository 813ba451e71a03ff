"""
symptom: huge numbers, or an abort, when one rank passes the int 0
source: own (right only when ranks pass the same type)
exercise: 1.5
says: different dtypes
"""
import torch
import torch.distributed as dist


def sum_over_ranks(value, device="cpu"):
    dtype = torch.int64 if isinstance(value, int) else torch.float64
    total = torch.tensor(value, dtype=dtype, device=device)
    dist.all_reduce(total)
    return float(total.item())
