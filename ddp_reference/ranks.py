"""Which process this is, and which device is its own (lesson 01)."""

import os
from dataclasses import dataclass
from typing import Literal

import torch

from ddp_reference.errors import UserError


@dataclass(frozen=True)
class Ranks:
    """A process's place among all; the defaults are those of a process that is alone."""

    rank: int = 0  # among all processes: decides which samples are its own
    local_rank: int = 0  # among those of its node: decides which GPU is its own
    world_size: int = 1
    local_world_size: int = 1
    launched: bool = False  # whether a launcher started it


def read_ranks() -> Ranks:
    """Read the variables that torchrun gives to each process; with none of them it is alone.

    Raises UserError if only some are set. Clusters may set RANK and WORLD_SIZE to count machines; guessing the
    rest would put every process on GPU 0.
    """
    names = ("RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE")
    missing = [name for name in names if name not in os.environ]
    if len(missing) == len(names):
        return Ranks()
    if missing:
        raise UserError(
            f"{' and '.join(missing)} not set in the environment, though others of torchrun's are: start with torchrun"
        )
    return Ranks(*(int(os.environ[name]) for name in names), launched=True)


def pick_device(ranks: Ranks, wanted: Literal["auto", "cpu"]) -> torch.device:
    """Choose this process's device and make it the current one.

    Raises UserError if this node has more processes than GPUs. NCCL would refuse two ranks on one GPU later,
    with a message that is much harder to read.
    """
    if wanted == "cpu" or not torch.accelerator.is_available():
        return torch.device("cpu")
    kind = torch.accelerator.current_accelerator().type
    if kind == "mps":  # Apple's GPU: one device, and no collectives of its own
        return torch.device("cpu")
    count = torch.accelerator.device_count()
    if ranks.local_world_size > count:
        raise UserError(
            f"{ranks.local_world_size} ranks on this node, but {count} GPU{'s'[: count != 1]}: "
            f"start with --nproc-per-node={count}, or train on the CPU with --device cpu"
        )
    device = torch.device(kind, ranks.local_rank)
    # Libraries that say only "cuda" mean the current device, which is GPU 0 unless set.
    torch.get_device_module(device).set_device(device)
    return device
