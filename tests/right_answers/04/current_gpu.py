"""
why: sets the current GPU, moves with cuda(), and leaves device_ids out
exercise: 4.3
"""
import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


def wrap_model(model, device, *, sync_bn=False):
    if device.type == "cuda":
        torch.cuda.set_device(device)
        model.cuda()
    else:
        model.to("cpu")
    if sync_bn:
        model = nn.SyncBatchNorm.convert_sync_batchnorm(model, torch.distributed.group.WORLD)
    return DDP(model, gradient_as_bucket_view=True)
