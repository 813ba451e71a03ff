"""One epoch of training (lesson 04)."""

import time
from collections.abc import Iterable
from dataclasses import dataclass

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import Tensor
from torch.nn.parallel import DistributedDataParallel
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler

from ddp_reference.groups import World
from ddp_reference.progress import Progress


@dataclass(frozen=True)
class Epoch:
    """What an epoch of training came to, over all ranks.

    Attributes:
        loss: Mean cross-entropy of a sample at the time it was used, in nats.
        samples: Trained on by all ranks together.
        seconds: Of training, without evaluation; this rank's clock.
    """

    loss: float
    samples: int
    seconds: float

    @property
    def samples_per_second(self) -> float:
        return self.samples / self.seconds


def train_epoch(
    ddp_model: DistributedDataParallel,
    batches: Iterable[tuple[Tensor, Tensor]],
    optimizer: Optimizer,
    scheduler: LRScheduler,
    world: World,
    progress: Progress,
) -> Epoch:
    """Take one optimizer step for each batch. Every rank must have equally many.

    Args:
        batches: This rank's images (b, channels, height, width) and labels (b,), on its device.
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
