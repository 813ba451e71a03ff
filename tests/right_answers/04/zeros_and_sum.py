"""
why: every other rank sends zeros, and all tensors are added up
exercise: 4.1
"""
import torch
import torch.distributed as dist


def broadcast_model(model):
    for tensor in [*model.parameters(), *model.buffers()]:
        values = tensor.detach().clone(memory_format=torch.contiguous_format)
        if values.dtype == torch.bool:
            values = values.to(torch.uint8)
        if dist.get_rank() != 0:
            values.zero_()
        dist.all_reduce(values)
        if dist.get_rank() != 0:
            tensor.detach().copy_(values)
