"""
symptom: BatchNorm layers inside blocks stay local
source: own
exercise: 4.3
says: only some layers were converted
"""
from torch import nn
from torch.nn.parallel import DistributedDataParallel



def wrap_model(model, device, *, sync_bn=False):
    model = model.to(device)
    if sync_bn:
        for name, child in model.named_children():
            if isinstance(child, nn.modules.batchnorm._BatchNorm):
                setattr(model, name, nn.SyncBatchNorm.convert_sync_batchnorm(child))
    return DistributedDataParallel(model, device_ids=None if device.type == "cpu" else [device])
