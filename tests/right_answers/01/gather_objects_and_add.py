"""
why: all_gather_object and Python's sum, float64 without a tensor of one's own
exercise: 1.5
"""
import torch.distributed as dist


def sum_over_ranks(value, device=None):
    values = [None] * dist.get_world_size()
    dist.all_gather_object(values, value)
    return float(sum(values))
