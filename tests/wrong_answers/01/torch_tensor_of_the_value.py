"""
symptom: Gloo aborts the process, or garbage, when one rank passes an int
source: course list of mistakes (integer tensors)
exercise: 1.5
says: float32 was used
"""
import torch
import torch.distributed as dist


def sum_over_ranks(value, device="cpu"):
    total = torch.tensor(value, device=device)
    dist.all_reduce(total)
    return float(total)
