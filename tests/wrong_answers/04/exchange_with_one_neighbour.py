"""
symptom: right on 2 GPUs, wrong on 3
source: own (kind: right at world size 2 only)
exercise: 4.2
says: not the sum of all ranks' gradients
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
        mine = p.grad.clone(memory_format=torch.contiguous_format)
        copies = [torch.empty_like(mine) for _ in range(dist.get_world_size())]
        dist.all_gather(copies, mine)
        p.grad.copy_((mine + copies[(dist.get_rank() + 1) % len(copies)]) / 2)
