"""
symptom: invalid device ordinal on the second machine
source: course list of mistakes
exercise: 4.3
says: made from the rank
"""
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel



def wrap_model(model, device, *, sync_bn=False):
    model = model.to(device)
    if sync_bn:
        model = nn.SyncBatchNorm.convert_sync_batchnorm(model)
    return DistributedDataParallel(model, device_ids=None if device.type == "cpu" else [dist.get_rank()])
