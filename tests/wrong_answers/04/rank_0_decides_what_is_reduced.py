"""
symptom: a branch that rank 0 skips is not averaged
source: own (kind: wrong where rank 0 lacks it)
exercise: 4.2
says: others have
"""
import torch
import torch.distributed as dist



def average_gradients(model):
    flags = torch.tensor([float(p.grad is not None) for p in model.parameters()])
    flags = flags.to(next(model.parameters()).device)
    dist.broadcast(flags, src=0)
    for p, flag in zip(model.parameters(), flags.tolist()):
        if flag:
            total = (torch.zeros_like(p) if p.grad is None else p.grad).clone(memory_format=torch.contiguous_format)
            dist.all_reduce(total)
            p.grad = total / dist.get_world_size()
