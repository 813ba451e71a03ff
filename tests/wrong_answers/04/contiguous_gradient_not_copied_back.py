"""
symptom: one layer is never averaged
source: own (kind: right for contiguous tensors only)
exercise: 4.2
says: averaged and not copied back
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
        total = p.grad.contiguous()
        dist.all_reduce(total)
        total /= dist.get_world_size()
