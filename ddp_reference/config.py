"""Every option of the trainer, in one typed class, with the command line made from it.

Imports no torch, so that `--help` and typing errors are answered at once.
"""

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

    dataset: Literal["digits", "synthetic"] = "digits"
    """digits: 8x8 grey images that come with scikit-learn. synthetic: 3x32x32, made on the spot."""
    model: str = "cnn"
    """cnn, or a classification model of torchvision by name, such as resnet18."""
    epochs: int = 15
    """How often each training sample is seen."""
    batch_size: int = 64
    """Samples in a step, over all ranks together."""
    optimizer: Literal["adamw", "sgd"] = "adamw"
    """sgd has Nesterov momentum 0.9; give it a learning rate of about 0.05."""
    learning_rate: float = 0.01
    """The highest learning rate, reached after the warm-up."""
    weight_decay: float = 0.01
    """Decay of all parameters; for sgd, 0.0005 is usual."""
    warmup_epochs: float = 1.0
    """The learning rate rises linearly for so long, then falls along a cosine to zero."""
    max_shift: int = 1
    """Training images are moved by up to so many pixels each way. 0 turns it off."""
    seed: int = 0
    """Decides initial weights, shuffling and augmentation. The test split never changes."""
    device: Literal["auto", "cpu"] = "auto"
    """auto: one GPU for each rank where there are GPUs, else the CPU."""
    timeout: float = 300.0
    """Seconds after which a rank that waits for another gives up with an error."""
    checkpoint: Path | None = None
    """Save the state of training to this file after every epoch."""
    resume: bool = False
    """Go on from the file of --checkpoint if it exists, else start from the beginning."""
    metrics: Path | None = None
    """Write accuracy, times and throughput to this JSON file at the end."""


def parse_config(argv: Sequence[str] | None, *, speak: bool) -> Config:
    """Read the command line.

    Args:
        argv: The arguments, or None for those of this process.
        speak: Whether to print help and errors; true on one rank of each node.

    Raises:
        SystemExit: Code 0 after --help, 2 after an unknown option or a value of the wrong type.
    """
    return tyro.cli(Config, prog="ddp_reference", args=argv, console_outputs=speak)


def check_config(config: Config, world_size: int) -> None:
    """Refuse values that have the right type but cannot work.

    Raises:
        UserError: Names every wrong value, not only the first.
    """
    problems = [
        f"{option} must be {rule}, not {value}"
        for option, value, ok, rule in [
            ("--epochs", config.epochs, config.epochs >= 1, "at least 1"),
            ("--batch-size", config.batch_size, config.batch_size >= 1, "at least 1"),
            (
                "--learning-rate",
                config.learning_rate,
                0 < config.learning_rate < math.inf,
                "above 0",
            ),
            ("--weight-decay", config.weight_decay, config.weight_decay >= 0, "at least 0"),
            ("--warmup-epochs", config.warmup_epochs, config.warmup_epochs >= 0, "at least 0"),
            ("--max-shift", config.max_shift, config.max_shift >= 0, "at least 0"),
            ("--seed", config.seed, config.seed >= 0, "at least 0"),
            ("--timeout", config.timeout, 0 < config.timeout < math.inf, "above 0"),
        ]
        if not ok
    ]
    if config.batch_size >= 1 and config.batch_size % world_size:
        below = config.batch_size // world_size * world_size
        fits = [size for size in (below, below + world_size) if size]
        problems.append(
            f"--batch-size is the global batch, so that {world_size} ranks must be able to share "
            f"it evenly: {config.batch_size} does not divide by {world_size}; "
            f"{' or '.join(map(str, fits))} would"
        )
    if config.resume and config.checkpoint is None:
        problems.append("--resume needs --checkpoint FILE, the file to go on from")
    if problems:
        raise UserError("; ".join(problems))
