"""
symptom: ValueError in a CPU run on a GPU machine
source: own (kind: right on machines without GPU only)
exercise: 4.3
says: whether the machine has GPUs
"""
import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel



def wrap_model(model, device, *, sync_bn=False):
    model = model.to(device)
    if sync_bn:
        model = nn.SyncBatchNorm.convert_sync_batchnorm(model)
    return DistributedDataParallel(model, device_ids=[device] if torch.cuda.is_available() else None)
