"""
why: one collective for all tensors of a dtype
exercise: 4.1
"""
from collections import defaultdict

import torch
import torch.distributed as dist


def broadcast_model(model):
    groups = defaultdict(list)
    for tensor in [*model.buffers(), *model.parameters()]:
        groups[tensor.dtype].append(tensor.data)
    for tensors in groups.values():
        vector = torch.cat([t.reshape(-1) for t in tensors])
        dist.broadcast(vector, src=0)
        for tensor, values in zip(tensors, vector.split([t.numel() for t in tensors])):
            tensor.copy_(values.view_as(tensor))
