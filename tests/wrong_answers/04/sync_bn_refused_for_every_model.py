"""
symptom: a model without BatchNorm cannot be trained on the CPU
source: own
exercise: 4.3
says: raised for every model
"""
from torch import nn
from torch.nn.parallel import DistributedDataParallel



def wrap_model(model, device, *, sync_bn=False):
    if sync_bn and device.type == "cpu":
        raise ValueError("SyncBatchNorm needs a GPU")
    model = model.to(device)
    if sync_bn:
        model = nn.SyncBatchNorm.convert_sync_batchnorm(model)
    return DistributedDataParallel(model, device_ids=None if device.type == "cpu" else [device])
