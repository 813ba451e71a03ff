"""
symptom: hang at the start
source: own (kind: collective in `if rank == 0`)
exercise: 4.1
says: waits
verdict: hung
"""
import torch.distributed as dist



def broadcast_model(model):
    if dist.get_rank() > 0:
        for tensor in [*model.parameters(), *model.buffers()]:
            values = tensor.detach().contiguous()
            dist.broadcast(values, src=0)
            tensor.detach().copy_(values)
