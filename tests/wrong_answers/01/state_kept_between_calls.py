"""
symptom: the first sum is right, later ones grow
source: own (right on the first call only)
exercise: 1.5
says: not every rank's value
"""
import torch
import torch.distributed as dist

_total = None


def sum_over_ranks(value, device="cpu"):
    global _total
    if _total is None:
        _total = torch.zeros(1, dtype=torch.float64, device=device)
    _total += value
    dist.all_reduce(_total)
    return _total.item()
