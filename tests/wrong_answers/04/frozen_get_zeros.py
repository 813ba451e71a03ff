"""
symptom: a frozen layer is moved by weight decay
source: own
exercise: 4.2
says: the frozen parameter was treated like the others
"""
import torch
import torch.distributed as dist



def average_gradients(model):
    flags = torch.tensor([float(p.grad is not None or not p.requires_grad) for p in model.parameters()])
    flags = flags.to(next(model.parameters()).device)
    dist.all_reduce(flags)
    for p, flag in zip(model.parameters(), flags.tolist()):
        if flag:
            total = (torch.zeros_like(p) if p.grad is None else p.grad).clone(memory_format=torch.contiguous_format)
            dist.all_reduce(total)
            p.grad = total / dist.get_world_size()
