"""
symptom: a frozen backbone differs between ranks
source: own
exercise: 4.1
says: frozen parameters were left out
"""
import torch.distributed as dist



def broadcast_model(model):
    trainable = [p for p in model.parameters() if p.requires_grad]
    for tensor in [*trainable, *model.buffers()]:
        values = tensor.detach().contiguous()
        dist.broadcast(values, src=0)
        tensor.detach().copy_(values)
