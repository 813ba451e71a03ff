"""
why: with other options that change nothing here
exercise: 4.7
"""
from torch.nn.parallel import DistributedDataParallel


def wrap_with_unused(model):
    device = next(model.parameters()).device
    return DistributedDataParallel(
        model,
        device_ids=None if device.type == "cpu" else [device],
        find_unused_parameters=True,
        gradient_as_bucket_view=True,
        bucket_cap_mb=1,
    )
