"""Saving the whole state of training, and going on from it bit for bit (lesson 06)."""

import os
from pathlib import Path

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler

from ddp_reference.errors import UserError
from ddp_reference.groups import World


def random_state(device: torch.device) -> list[Tensor]:
    """This process's random number generators, on the CPU and on its GPU, as uint8 tensors."""
    gpu = [] if device.type == "cpu" else [torch.get_device_module(device).get_rng_state(device)]
    return [torch.get_rng_state(), *gpu]


def set_random_state(state: list[Tensor], device: torch.device) -> None:
    torch.set_rng_state(state[0])
    if device.type != "cpu" and len(state) > 1:
        torch.get_device_module(device).set_rng_state(state[1], device)


def write_atomically(state: dict, path: Path) -> None:
    """Write a file that is complete or not there, even if the machine fails in mid-write."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(path.name + ".tmp")  # same folder: a rename cannot cross disks
    with temporary.open("wb") as file:
        torch.save(state, file)
        file.flush()
        os.fsync(file.fileno())  # else the new name could reach the disk before the content does
    os.replace(temporary, path)


def save_checkpoint(
    path: Path, model: nn.Module, optimizer: Optimizer, scheduler: LRScheduler, next_epoch: int, world: World
) -> None:
    """Save on rank 0. All ranks call it, and return when the file is there.

    `model` is not the DDP wrapper, so that the names have no prefix `module.` and the file can be loaded
    without DDP. `next_epoch`, from 0, is the one to go on with. Raises UserError, on every rank, if the file
    cannot be written.
    """
    # Each rank draws its own random numbers, so each has a state of its own.
    random: list[list[Tensor] | None] = [None] * world.size
    dist.all_gather_object(random, random_state(world.device))
    error = None
    if world.rank == 0:
        parts = {"model": model, "optimizer": optimizer, "scheduler": scheduler}
        state = {name: part.state_dict() for name, part in parts.items()}
        try:
            write_atomically(state | {"next_epoch": next_epoch, "random": random}, path)
        except (OSError, RuntimeError) as problem:  # torch.save turns some into RuntimeError
            error = UserError(f"cannot write the checkpoint {path}: {problem}")
    world.raise_together(error)  # also the barrier after which the file exists


def load_checkpoint(path: Path, model: nn.Module, optimizer: Optimizer, scheduler: LRScheduler, world: World) -> int:
    """Take up the state of a file on every rank, and return the epoch to go on with.

    That is 0 if there is no file. With the world size of the file training goes on bit for bit (on the CPU),
    with another it goes on with fresh random states. Raises UserError, on every rank, if the file is damaged,
    belongs to another model, or is not on every node.
    """
    found = [path.exists()]
    dist.broadcast_object_list(found, src=0, device=world.device)  # all do as rank 0 does
    if not found[0]:
        return 0
    error = None
    try:
        # On the CPU first: else there would be two models on the GPU for a moment, and, without map_location,
        # those of all ranks on GPU 0. weights_only: a file cannot run code.
        state = torch.load(path, map_location="cpu", weights_only=True)
        for name, part in (("model", model), ("optimizer", optimizer), ("scheduler", scheduler)):
            part.load_state_dict(state[name])
        if len(state["random"]) == world.size:
            set_random_state(state["random"][world.rank], world.device)
    except Exception as problem:  # a damaged file can raise nearly anything
        error = UserError(f"cannot go on from {path}: {type(problem).__name__}: {problem}")
    world.raise_together(error)
    return state["next_epoch"]
