"""
symptom: module must have its parameters on the device when it is wrapped
source: own
exercise: 4.3
says: moved after wrapping, or not at all
"""
from torch import nn
from torch.nn.parallel import DistributedDataParallel



def wrap_model(model, device, *, sync_bn=False):
    if sync_bn:
        model = nn.SyncBatchNorm.convert_sync_batchnorm(model)
    return DistributedDataParallel(model).to(device)
