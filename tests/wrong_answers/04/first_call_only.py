"""
symptom: the ranks drift apart after the first step
source: own (kind: first step only)
exercise: 4.2
says: skipped its all_reduce
"""
import torch
import torch.distributed as dist



_used = {}


def average_gradients(model):
    """Remembers which parameters are used, to save an all_reduce in later steps."""
    if id(model) not in _used:
        flags = torch.tensor([float(p.grad is not None) for p in model.parameters()])
        flags = flags.to(next(model.parameters()).device)
        dist.all_reduce(flags)
        _used[id(model)] = flags.tolist()
    for p, flag in zip(model.parameters(), _used[id(model)]):
        if flag and p.grad is not None:
            total = p.grad.clone(memory_format=torch.contiguous_format)
            dist.all_reduce(total)
            p.grad.copy_(total / dist.get_world_size())
