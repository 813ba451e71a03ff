"""
symptom: converted weights differ between ranks
source: own (kind: right for contiguous tensors only)
exercise: 4.1
says: was not copied back
"""
import torch.distributed as dist



def broadcast_model(model):
    for tensor in [*model.parameters(), *model.buffers()]:
        dist.broadcast(tensor.detach().contiguous(), src=0)
