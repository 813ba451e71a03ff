"""
why: device_ids and output_device as numbers, explicit error on the CPU
exercise: 4.3
"""
import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


def wrap_model(model, device, *, sync_bn=False):
    if sync_bn:
        has_norm = any(isinstance(m, nn.modules.batchnorm._BatchNorm) for m in model.modules())
        if has_norm and device.type == "cpu":
            raise ValueError("SyncBatchNorm works on GPUs only")
        model = nn.SyncBatchNorm.convert_sync_batchnorm(model)
    model.to(device)
    if device.type == "cpu":
        return DDP(model)
    return DDP(model, device_ids=[device.index], output_device=device.index)
