"""
symptom: the option does nothing and nobody knows
source: own (kind: silence instead of an error)
exercise: 4.3
says: should raise ValueError
"""
from torch import nn
from torch.nn.parallel import DistributedDataParallel



def wrap_model(model, device, *, sync_bn=False):
    model = model.to(device)
    if sync_bn and device.type != "cpu":
        model = nn.SyncBatchNorm.convert_sync_batchnorm(model)
    return DistributedDataParallel(model, device_ids=None if device.type == "cpu" else [device])
