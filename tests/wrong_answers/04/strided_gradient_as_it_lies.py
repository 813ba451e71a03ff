"""
symptom: one layer is averaged in part
source: pytorch/pytorch#192920
exercise: 4.2
says: takes memory as it lies there
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
        dist.all_reduce(p.grad)
        p.grad /= dist.get_world_size()
