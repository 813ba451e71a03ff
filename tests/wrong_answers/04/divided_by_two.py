"""
symptom: right on 2 GPUs, too large a step on 4
source: own (kind: right at world size 2 only)
exercise: 4.2
says: divided by 2
"""
import torch
import torch.distributed as dist



def average_gradients(model):
    for p in model.parameters():
        if not p.requires_grad:
            continue
        total = (torch.zeros_like(p) if p.grad is None else p.grad).clone(memory_format=torch.contiguous_format)
        dist.all_reduce(total)
        p.grad = total / 2
