"""
symptom: the pretrained weights of rank 0 are lost
source: own
exercise: 4.1
says: its own values were changed
"""
import torch.distributed as dist



def broadcast_model(model):
    for tensor in [*model.parameters(), *model.buffers()]:
        values = tensor.detach().clone().double().contiguous()
        dist.all_reduce(values)
        tensor.detach().copy_(values / dist.get_world_size())
