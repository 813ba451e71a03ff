"""Which process this is, and which device is its own (lesson 01)."""

import os
from dataclasses import dataclass
from typing import Literal

import torch

from ddp_reference.errors import UserError


@dataclass(frozen=True)
class Ranks:
    """A process's place among all processes.

    Attributes:
        rank: Its number among all, from 0. Decides which samples are its own.
        local_rank: Its number on its node, from 0. Decides which GPU is its own.
        world_size: How many processes there are.
        local_world_size: How many of them are on this node.
        launched: Whether a launcher started it. If not, it is the only one.
    """

    rank: int = 0
    local_rank: int = 0
    world_size: int = 1
    local_world_size: int = 1
    launched: bool = False


def read_ranks() -> Ranks:
    """Read the variables that torchrun gives to each process.

    Returns:
        The defaults of Ranks if none of them is set, as in plain `python -m ddp_reference`.

    Raises:
        UserError: Some are set and others are not. Clusters may set RANK and WORLD_SIZE to count
            machines; guessing the rest would put every process on GPU 0.
    """
    names = ("RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE")
    missing = [name for name in names if name not in os.environ]
    if len(missing) == len(names):
        return Ranks()
    if missing:
        raise UserError(
            f"the environment has {' and '.join(n for n in names if n not in missing)} but not "
            f"{' and '.join(missing)}: start with torchrun, which sets all of them",
            shared=False,
        )
    return Ranks(*(int(os.environ[name]) for name in names), launched=True)


def pick_device(ranks: Ranks, wanted: Literal["auto", "cpu"]) -> torch.device:
    """Choose this process's device and make it the current one.

    Raises:
        UserError: This node has more processes than GPUs. NCCL would refuse two ranks on one GPU
            later, with a message that is much harder to read.
    """
    accelerator = torch.accelerator.current_accelerator() if wanted == "auto" else None
    # Apple's MPS has one device and no collectives of its own.
    if accelerator is None or accelerator.type == "mps" or not torch.accelerator.is_available():
        return torch.device("cpu")
    count = torch.accelerator.device_count()
    if ranks.local_world_size > count:
        raise UserError(
            f"{ranks.local_world_size} ranks on this node, but {count} GPU{'s'[: count != 1]}: "
            f"start with --nproc-per-node={count}, or train on the CPU with --device cpu"
        )
    device = torch.device(accelerator.type, ranks.local_rank)
    # Libraries that say only "cuda" mean the current device, which is GPU 0 unless set.
    torch.get_device_module(device).set_device(device)
    return device
