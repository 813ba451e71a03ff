"""
symptom: right on 2 GPUs, wrong on 4
source: own (kind: right at world size 2 only)
exercise: 4.1
says: nothing arrived on this rank
"""
import torch.distributed as dist



def broadcast_model(model):
    for tensor in [*model.parameters(), *model.buffers()]:
        values = tensor.detach().contiguous()
        if dist.get_rank() == 0:
            dist.send(values, dst=1)
        elif dist.get_rank() == 1:
            dist.recv(values, src=0)
            tensor.detach().copy_(values)
