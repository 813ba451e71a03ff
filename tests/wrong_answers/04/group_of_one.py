"""
symptom: each rank trains alone
source: own (kind: silence)
exercise: 4.3
says: knows only this rank
"""
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel



def wrap_model(model, device, *, sync_bn=False):
    model = model.to(device)
    if sync_bn:
        model = nn.SyncBatchNorm.convert_sync_batchnorm(model)
    groups = [dist.new_group([rank]) for rank in range(dist.get_world_size())]
    return DistributedDataParallel(
        model, device_ids=None if device.type == "cpu" else [device], process_group=groups[dist.get_rank()]
    )
