"""
symptom: parameters never change
source: course list of mistakes
exercise: 4.3
says: a copy of the model was wrapped
"""
import copy

from torch import nn
from torch.nn.parallel import DistributedDataParallel



def wrap_model(model, device, *, sync_bn=False):
    model = copy.deepcopy(model).to(device)
    if sync_bn:
        model = nn.SyncBatchNorm.convert_sync_batchnorm(model)
    return DistributedDataParallel(model, device_ids=None if device.type == "cpu" else [device])
