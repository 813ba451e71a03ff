"""
symptom: the ranks start from different weights
source: own (kind: right only when ranks start alike)
exercise: 4.3
says: was switched off
"""
from torch import nn
from torch.nn.parallel import DistributedDataParallel



def wrap_model(model, device, *, sync_bn=False):
    model = model.to(device)
    if sync_bn:
        model = nn.SyncBatchNorm.convert_sync_batchnorm(model)
    return DistributedDataParallel(model, device_ids=None if device.type == "cpu" else [device], init_sync=False)
