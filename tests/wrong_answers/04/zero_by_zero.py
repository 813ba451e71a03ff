"""
symptom: nan in a step without any data
source: own (kind: edge case)
exercise: 4.5
says: 0 / 0
"""
import torch
import torch.distributed as dist



def weighted_loss(losses):
    count = torch.tensor(losses.numel(), device=losses.device)
    dist.all_reduce(count)
    return losses.sum() * dist.get_world_size() / count
