"""
symptom: BatchNorm is not converted when DDP looks
source: course list of mistakes
exercise: 4.3
says: the layers were converted after wrapping
"""
from torch import nn
from torch.nn.parallel import DistributedDataParallel



def wrap_model(model, device, *, sync_bn=False):
    model = model.to(device)
    ddp_model = DistributedDataParallel(model, device_ids=None if device.type == "cpu" else [device])
    if sync_bn:
        if device.type == "cpu":
            raise ValueError("SyncBatchNorm needs a GPU")
        ddp_model = nn.SyncBatchNorm.convert_sync_batchnorm(ddp_model)
    return ddp_model
