"""One epoch of training (lesson 04)."""

import time
from collections.abc import Iterable

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import Tensor
from torch.nn.parallel import DistributedDataParallel
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler

from ddp_reference.groups import World
from ddp_reference.report import Epoch, Progress


def train_epoch(
    ddp_model: DistributedDataParallel,
    batches: Iterable[tuple[Tensor, Tensor]],
    optimizer: Optimizer,
    scheduler: LRScheduler,
    world: World,
    progress: Progress,
) -> Epoch:
    """Take one optimizer step for each of this rank's batches: images (b, c, h, w), labels (b,).

    All ranks have equally many batches, of equal size.
    """
    began = time.perf_counter()
    ddp_model.train()
    samples = 0
    # Stays on the device: reading a loss on the host would wait for the GPU in every step.
    loss_sum = torch.zeros((), dtype=torch.float64, device=world.device)
    for images, labels in batches:
        loss = F.cross_entropy(ddp_model(images), labels)  # the wrapper's forward, not the model's
        loss.backward()  # here DDP averages the gradients over all ranks
        optimizer.step()
        scheduler.step()
        optimizer.zero_grad()
        loss_sum += loss.detach() * len(labels)
        samples += len(labels) * world.size
        progress.step(len(labels) * world.size, loss.detach())
    dist.all_reduce(loss_sum)
    mean_loss = loss_sum.item() / samples  # waits for the device, so the clock is right
    return Epoch(mean_loss, samples, time.perf_counter() - began)
