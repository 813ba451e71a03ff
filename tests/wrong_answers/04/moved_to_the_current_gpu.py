"""
symptom: all ranks allocate on GPU 0
source: pytorch/examples#969
exercise: 4.3
says: another GPU than `device`
"""
from torch import nn
from torch.nn.parallel import DistributedDataParallel



def wrap_model(model, device, *, sync_bn=False):
    model = model.to(device.type)
    if sync_bn:
        model = nn.SyncBatchNorm.convert_sync_batchnorm(model)
    return DistributedDataParallel(model)
