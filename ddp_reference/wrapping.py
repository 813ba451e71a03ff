"""DistributedDataParallel around the model (lesson 04)."""

from torch import nn
from torch.nn.parallel import DistributedDataParallel

from ddp_reference.groups import World


def wrap_model(model: nn.Module, world: World) -> DistributedDataParallel:
    """Let backward average gradients over all ranks. The model is on world.device already.

    The constructor copies rank 0's parameters and buffers to the others. Afterwards every rank
    takes the same steps, so the copies stay equal and are never sent again. The options, and
    those that stay at their defaults:

    - device_ids: This process's one device. Only for GPUs; on the CPU it is an error.
    - gradient_as_bucket_view: Gradients live in the buffers that are sent, not beside them, which
      saves copies, and as much memory as all gradients take.
    - bucket_cap_mb (25): Smaller buckets are sent sooner, but there are more. Measure.
    - find_unused_parameters (False): A walk through the graph in every step. Needed only where
      some parameters get no gradient in some steps.
    - static_graph (False): Promises that every step uses the same parameters in the same way,
      which lets activation checkpointing do more.
    - forward_sync_buffers (True; broadcast_buffers before torch 2.13): Sends rank 0's buffers,
      such as BatchNorm's statistics, before each forward in training.
    """
    device_ids = None if world.device.type == "cpu" else [world.device]
    return DistributedDataParallel(model, device_ids=device_ids, gradient_as_bucket_view=True)
