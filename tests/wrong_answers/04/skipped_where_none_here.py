"""
symptom: hang, or gradients of different layers are mixed
source: course list of mistakes
exercise: 4.2
says: skipped its all_reduce
"""
import torch
import torch.distributed as dist



def average_gradients(model):
    for p in model.parameters():
        if p.grad is not None:
            total = p.grad.clone(memory_format=torch.contiguous_format)
            dist.all_reduce(total)
            p.grad.copy_(total / dist.get_world_size())
