"""
symptom: half of a weight matrix is wrong on the other ranks
source: pytorch/pytorch#192920
exercise: 4.1
says: without a look at the strides
"""
import torch.distributed as dist



def broadcast_model(model):
    for tensor in [*model.parameters(), *model.buffers()]:
        dist.broadcast(tensor.data, src=0)
