"""
symptom: the loss of all ranks becomes nan
source: own (kind: an empty batch)
exercise: 4.5
says: the mean of no losses is nan
"""
import torch
import torch.distributed as dist



def weighted_loss(losses):
    count = torch.tensor(losses.numel(), device=losses.device)
    dist.all_reduce(count)
    return losses.mean() * losses.numel() * dist.get_world_size() / count.clamp(min=1)
