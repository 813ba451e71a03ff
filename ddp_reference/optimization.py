"""Optimizer and learning rate (lesson 08)."""

import math

import torch
from torch import nn
from torch.optim.lr_scheduler import LambdaLR

from ddp_reference.config import Config


def build_optimizer(model: nn.Module, config: Config) -> torch.optim.Optimizer:
    """Make the optimizer; the model is on its device already.

    fused updates all parameters in a few kernels rather than a few for each parameter.
    """
    options = {"lr": config.learning_rate, "weight_decay": config.weight_decay, "fused": True}
    if config.optimizer == "sgd":
        return torch.optim.SGD(model.parameters(), momentum=0.9, nesterov=True, **options)
    return torch.optim.AdamW(model.parameters(), **options)


def warmup_cosine(step: int, warmup_steps: int, total_steps: int) -> float:
    """The share of the highest learning rate that a step, from 0, uses.

    It rises linearly, because the first gradients are large and point anywhere, and the more so with the large
    batches of many ranks. Then it falls along half a cosine, to 0 after the end.
    """
    if step < warmup_steps:
        return (step + 1) / (warmup_steps + 1)
    progress = (step - warmup_steps) / max(1, total_steps - warmup_steps)
    return 0.5 * (1 + math.cos(math.pi * progress))


def build_schedule(optimizer: torch.optim.Optimizer, config: Config, steps_per_epoch: int) -> LambdaLR:
    """Make the schedule; its `step` is called once after every update, not once an epoch."""
    warmup_steps = round(config.warmup_epochs * steps_per_epoch)
    total_steps = config.epochs * steps_per_epoch
    return LambdaLR(optimizer, lambda step: warmup_cosine(step, warmup_steps, total_steps))
