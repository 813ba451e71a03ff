"""
symptom: the optimizer changes nothing on the other ranks
source: own (kind: side effect)
exercise: 4.1
says: other objects than before
"""
import torch.distributed as dist


from torch import nn


def broadcast_model(model):
    for module in model.modules():
        for name, parameter in list(module.named_parameters(recurse=False)):
            values = parameter.detach().clone().contiguous()
            dist.broadcast(values, src=0)
            setattr(module, name, nn.Parameter(values, requires_grad=parameter.requires_grad))
        for buffer in module.buffers(recurse=False):
            values = buffer.contiguous()
            dist.broadcast(values, src=0)
            buffer.copy_(values)
