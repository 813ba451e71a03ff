"""
symptom: nothing trains any more on any rank
source: own (kind: side effect)
exercise: 4.1
says: requires_grad has changed
"""
import torch.distributed as dist



def broadcast_model(model):
    model.requires_grad_(False)
    for tensor in [*model.parameters(), *model.buffers()]:
        values = tensor.contiguous()
        dist.broadcast(values, src=0)
        tensor.copy_(values)
