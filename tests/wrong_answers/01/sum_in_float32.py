"""
symptom: token counts above 16,777,216 lose digits
source: course list of mistakes (kind of 07)
exercise: 1.5
says: float32 was used
"""
import torch
import torch.distributed as dist


def sum_over_ranks(value, device="cpu"):
    total = torch.tensor(float(value), device=device)
    dist.all_reduce(total)
    return total.item()
