"""
symptom: rank 0 logs the right number, the others decide by another one
source: own (wrong on all ranks but one)
exercise: 1.5
says: rank 1
"""
import torch
import torch.distributed as dist


def sum_over_ranks(value, device="cpu"):
    total = torch.tensor(value, dtype=torch.float64, device=device)
    dist.reduce(total, dst=0)
    return total.item()
