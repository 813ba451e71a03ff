"""
symptom: counts are too small by the world size
source: own
exercise: 1.5
says: this is the mean
"""
import torch
import torch.distributed as dist


def sum_over_ranks(value, device="cpu"):
    total = torch.tensor(value, dtype=torch.float64, device=device)
    dist.all_reduce(total)
    return total.item() / dist.get_world_size()
