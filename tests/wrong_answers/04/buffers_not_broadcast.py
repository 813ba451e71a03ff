"""
symptom: BatchNorm statistics differ between ranks
source: course list of mistakes
exercise: 4.1
says: parameters were broadcast, buffers were not
"""
import torch.distributed as dist



def broadcast_model(model):
    for tensor in model.parameters():
        values = tensor.detach().contiguous()
        dist.broadcast(values, src=0)
        tensor.detach().copy_(values)
