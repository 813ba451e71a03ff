"""
symptom: weight decay shrinks layers that are not used
source: own
exercise: 4.2
says: zeros were filled in although no rank has a gradient
"""
import torch
import torch.distributed as dist



def average_gradients(model):
    for p in model.parameters():
        if not p.requires_grad:
            continue
        total = (torch.zeros_like(p) if p.grad is None else p.grad).clone(memory_format=torch.contiguous_format)
        dist.all_reduce(total)
        p.grad = total / dist.get_world_size()
