"""
symptom: a hang when one rank has nothing to add
source: own (a hang instead of a sum)
exercise: 1.5
says: without entering that collective
verdict: hung
"""
import torch
import torch.distributed as dist


def sum_over_ranks(value, device="cpu"):
    if value == 0:
        return 0.0
    total = torch.tensor(value, dtype=torch.float64, device=device)
    dist.all_reduce(total)
    return total.item()
