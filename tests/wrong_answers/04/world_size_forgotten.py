"""
symptom: gradients too small by the world size
source: own
exercise: 4.5
says: too small by a factor of the world size
"""
import torch
import torch.distributed as dist



def weighted_loss(losses):
    count = torch.tensor(losses.numel(), device=losses.device)
    dist.all_reduce(count)
    return losses.sum() / count.clamp(min=1)
