"""
symptom: element 0 of tensors does not require grad
source: own
exercise: 4.5
says: not connected to the graph
"""
import torch
import torch.distributed as dist



def weighted_loss(losses):
    count = torch.tensor(losses.numel(), device=losses.device)
    dist.all_reduce(count)
    value = losses.sum().item() * dist.get_world_size() / max(count.item(), 1)
    return torch.tensor(value, requires_grad=False, device=losses.device)
