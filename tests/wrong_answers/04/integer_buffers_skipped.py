"""
symptom: num_batches_tracked and masks differ between ranks
source: own
exercise: 4.1
says: some buffers were left out
"""
import torch.distributed as dist



def broadcast_model(model):
    for tensor in [*model.parameters(), *model.buffers()]:
        if not tensor.is_floating_point():
            continue
        values = tensor.detach().contiguous()
        dist.broadcast(values, src=0)
        tensor.detach().copy_(values)
