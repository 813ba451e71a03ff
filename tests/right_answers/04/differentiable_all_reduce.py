"""
why: the global mean itself, on every rank, through a differentiable all_reduce
exercise: 4.5
"""
import torch
import torch.distributed as dist
import torch.distributed.nn.functional as dist_fn


def weighted_loss(losses):
    count = torch.tensor(float(losses.numel()), device=losses.device, dtype=torch.float64)
    dist.all_reduce(count)
    total = dist_fn.all_reduce(losses.sum())
    return total / max(count.item(), 1.0)
