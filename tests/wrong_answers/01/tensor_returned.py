"""
symptom: a tensor in the log and in the JSON file
source: own
exercise: 1.5
says: the tensor was returned
"""
import torch
import torch.distributed as dist


def sum_over_ranks(value, device="cpu"):
    total = torch.tensor(value, dtype=torch.float64, device=device)
    dist.all_reduce(total)
    return total
