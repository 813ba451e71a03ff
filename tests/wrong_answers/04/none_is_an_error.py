"""
symptom: 'NoneType' object has no attribute ... on one rank
source: own
exercise: 4.2
says: NoneType
verdict: raised
"""
import torch.distributed as dist



def average_gradients(model):
    for p in model.parameters():
        if p.requires_grad:
            dist.all_reduce(p.grad)
            p.grad.div_(dist.get_world_size())
