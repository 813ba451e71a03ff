"""
why: the local mean, weighed with this rank's share of the samples
exercise: 4.5
"""
import torch
import torch.distributed as dist


def weighted_loss(losses):
    rank = dist.get_rank()
    counts = torch.zeros(dist.get_world_size(), device=losses.device)
    counts[rank] = losses.numel()
    dist.all_reduce(counts)
    if losses.numel() == 0:
        return losses.sum()
    return losses.mean() * counts[rank] / counts.mean()
