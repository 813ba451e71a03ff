"""
why: counts as gathered objects, and a weighted mean with the nan taken out
exercise: 4.5
"""
import torch
import torch.distributed as dist


def weighted_loss(losses):
    counts = [None] * dist.get_world_size()
    dist.all_gather_object(counts, losses.numel())
    mean = losses.mean() if losses.numel() else losses.sum()
    return mean * losses.numel() * len(counts) / max(sum(counts), 1)
