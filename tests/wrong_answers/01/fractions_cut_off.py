"""
symptom: an average that is 0
source: course list of mistakes
exercise: 1.5
says: fractions were cut off
"""
import torch
import torch.distributed as dist


def sum_over_ranks(value, device="cpu"):
    total = torch.tensor(value, dtype=torch.int64, device=device)
    dist.all_reduce(total)
    return float(total.item())
