"""
symptom: rarely used branches get too large a step
source: own
exercise: 4.2
says: divided by the number of ranks that have this gradient
"""
import torch
import torch.distributed as dist



def average_gradients(model):
    flags = torch.tensor([float(p.grad is not None) for p in model.parameters()])
    flags = flags.to(next(model.parameters()).device)
    dist.all_reduce(flags)
    for p, count in zip(model.parameters(), flags.tolist()):
        if count:
            total = (torch.zeros_like(p) if p.grad is None else p.grad).clone(memory_format=torch.contiguous_format)
            dist.all_reduce(total)
            p.grad = total / count
