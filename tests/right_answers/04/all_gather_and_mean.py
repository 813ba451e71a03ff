"""
why: gathers all gradients and takes the mean itself
exercise: 4.2
"""
import torch
import torch.distributed as dist


def average_gradients(model):
    world_size = dist.get_world_size()
    mine = [name for name, p in model.named_parameters() if p.grad is not None]
    names = [None] * world_size
    dist.all_gather_object(names, mine)
    for name, parameter in model.named_parameters():
        if not any(name in theirs for theirs in names):
            continue
        own = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
        copies = [torch.empty_like(own, memory_format=torch.contiguous_format) for _ in range(world_size)]
        dist.all_gather(copies, own.contiguous())
        parameter.grad = torch.stack(copies).mean(0)
