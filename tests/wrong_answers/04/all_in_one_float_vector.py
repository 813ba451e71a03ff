"""
symptom: num_batches_tracked is off by one
source: own (one collective for everything)
exercise: 4.1
says: it was sent as float32
"""
import torch
import torch.distributed as dist



def broadcast_model(model):
    tensors = [*model.parameters(), *model.buffers()]
    vector = torch.cat([t.detach().flatten().float() for t in tensors])
    dist.broadcast(vector, src=0)
    for tensor, values in zip(tensors, vector.split([t.numel() for t in tensors])):
        tensor.detach().copy_(values.view(tensor.shape))
