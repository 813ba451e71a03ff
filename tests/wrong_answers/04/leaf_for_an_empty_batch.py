"""
symptom: hang: backward of an empty batch does not reach the model
source: own (kind: hang on an empty batch)
exercise: 4.5
says: not connected to the graph
"""
import torch
import torch.distributed as dist



def weighted_loss(losses):
    count = torch.tensor(losses.numel(), device=losses.device)
    dist.all_reduce(count)
    if losses.numel() == 0:
        return torch.zeros((), device=losses.device, requires_grad=True)
    return losses.sum() * dist.get_world_size() / count
