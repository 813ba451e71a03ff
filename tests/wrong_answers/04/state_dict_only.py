"""
symptom: position tables differ between ranks
source: own
exercise: 4.1
says: persistent=False
"""
import torch.distributed as dist



def broadcast_model(model):
    for tensor in model.state_dict().values():
        values = tensor.detach().contiguous()
        dist.broadcast(values, src=0)
        tensor.copy_(values)
