"""
why: all_gather of tensors and a local sum
exercise: 1.5
"""
import torch
import torch.distributed as dist

from ddp_grader import device as group_device


def sum_over_ranks(value):
    mine = torch.as_tensor([value], dtype=torch.double, device=group_device())
    parts = [torch.empty_like(mine) for _ in range(dist.get_world_size())]
    dist.all_gather(parts, mine)
    return torch.stack(parts).sum().item()
