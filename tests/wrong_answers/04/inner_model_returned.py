"""
symptom: training is not synchronised
source: own
exercise: 4.3
says: not a DistributedDataParallel
"""
from torch import nn
from torch.nn.parallel import DistributedDataParallel



def wrap_model(model, device, *, sync_bn=False):
    model = model.to(device)
    if sync_bn:
        model = nn.SyncBatchNorm.convert_sync_batchnorm(model)
    DistributedDataParallel(model, device_ids=None if device.type == "cpu" else [device])
    return model
