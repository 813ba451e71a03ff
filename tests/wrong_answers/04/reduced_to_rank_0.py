"""
symptom: only rank 0 uses the mean
source: own (kind: wrong on all ranks but one)
exercise: 4.2
says: rank 0 has the mean
"""
import torch
import torch.distributed as dist


def average_gradients(model):
    flags = torch.tensor([float(p.grad is not None) for p in model.parameters()])
    flags = flags.to(next(model.parameters()).device)
    dist.all_reduce(flags)
    for p, flag in zip(model.parameters(), flags.tolist()):
        if not flag:
            continue
        if p.grad is None:
            p.grad = torch.zeros_like(p)
        total = p.grad.clone(memory_format=torch.contiguous_format)
        dist.reduce(total, dst=0)
        if dist.get_rank() == 0:
            p.grad.copy_(total / dist.get_world_size())
