"""
why: a weight for each loss, then a dot product
exercise: 4.5
"""
import torch
import torch.distributed as dist


def weighted_loss(losses):
    ones = torch.ones_like(losses)
    count = ones.sum()
    dist.all_reduce(count)
    weights = ones * dist.get_world_size() / torch.clamp(count, min=1)
    return (losses * weights).sum()
