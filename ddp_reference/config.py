"""Every option of the trainer, in one typed class, with the command line made from it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import tyro

from ddp_reference.errors import UserError


@dataclass(frozen=True)
class Config:
    """Train an image classifier with DistributedDataParallel.

    Start it with torchrun on as many ranks as you like, or with python as one process.
    """

    # digits: 8x8 grey images that come with scikit-learn. synthetic: 3x32x32, made on the spot.
    dataset: Literal["digits", "synthetic"] = "digits"
    model: str = "cnn"  # cnn, or a classification model of torchvision by name, such as resnet18.
    epochs: int = 15  # How often each training sample is seen.
    batch_size: int = 64  # Samples in a step, over all ranks together.
    # sgd has Nesterov momentum 0.9; give it a learning rate of about 0.05.
    optimizer: Literal["adamw", "sgd"] = "adamw"
    learning_rate: float = 0.01  # The highest learning rate, reached after the warm-up.
    weight_decay: float = 0.01  # Decay of all parameters; for sgd, 0.0005 is usual.
    # The learning rate rises linearly for so long, then falls along a cosine to zero.
    warmup_epochs: float = 1.0
    seed: int = 0  # Decides initial weights and shuffling, but never the test split.
    # auto: one GPU for each rank where there are GPUs, else the CPU.
    device: Literal["auto", "cpu"] = "auto"
    timeout: float = 300.0  # Seconds after which a rank that waits for another gives up.
    checkpoint: Path | None = None  # Save the state of training to this file after every epoch.
    # Go on from the file of --checkpoint if it exists, else start from the beginning.
    resume: bool = False
    metrics: Path | None = None  # Write accuracy, times and throughput to this JSON file at the end.


def parse_config(argv: Sequence[str] | None, *, speak: bool) -> Config:
    """Read the command line; None means that of this process.

    Raises SystemExit: code 0 after --help, 2 after an unknown option or a value of the wrong type. Help and
    errors are printed only if `speak`, which is true on one rank of each node.
    """
    return tyro.cli(Config, prog="ddp_reference", args=argv, console_outputs=speak)


AT_LEAST = {"epochs": 1, "batch_size": 1, "weight_decay": 0, "warmup_epochs": 0, "seed": 0}


def check_config(config: Config, world_size: int) -> None:
    """Raise a UserError that names every value of the right type that still cannot work."""
    problems = []
    for field, value in vars(config).items():
        option = "--" + field.replace("_", "-")
        if field in AT_LEAST and not value >= AT_LEAST[field]:
            problems.append(f"{option} must be at least {AT_LEAST[field]}, not {value}")
        if field in ("learning_rate", "timeout") and not 0 < value < math.inf:
            problems.append(f"{option} must be above 0, not {value}")
    if config.batch_size >= 1 and config.batch_size % world_size:
        below = config.batch_size // world_size * world_size
        fits = " or ".join(str(size) for size in (below, below + world_size) if size)
        problems.append(
            f"--batch-size is the global batch, so that {world_size} ranks must be able to share "
            f"it evenly: {config.batch_size} does not divide by {world_size}; {fits} would"
        )
    if config.resume and config.checkpoint is None:
        problems.append("--resume needs --checkpoint FILE, the file to go on from")
    if problems:
        raise UserError("; ".join(problems))
