"""
why: returns an instance of a subclass that passes attributes through
exercise: 4.3
"""
from torch import nn
from torch.nn.parallel import DistributedDataParallel


class Transparent(DistributedDataParallel):
    def __getattr__(self, name):
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(super().__getattr__("module"), name)


def wrap_model(model, device, *, sync_bn=False):
    model = model.to(device=device)
    model = nn.SyncBatchNorm.convert_sync_batchnorm(model) if sync_bn else model
    return Transparent(model, device_ids=[device] if device.type != "cpu" else None)
