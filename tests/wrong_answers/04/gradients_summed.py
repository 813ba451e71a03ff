"""
symptom: learning rate effectively times world_size
source: course list of mistakes
exercise: 4.2
says: this is the sum, not the mean
"""
import torch
import torch.distributed as dist



def average_gradients(model):
    for p in model.parameters():
        if not p.requires_grad:
            continue
        total = (torch.zeros_like(p) if p.grad is None else p.grad).clone(memory_format=torch.contiguous_format)
        dist.all_reduce(total)
        p.grad = total
