"""What is left of a run: the last lines on the terminal and the metrics file."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from ddp_reference.config import Config
from ddp_reference.errors import UserError
from ddp_reference.evaluation import Score
from ddp_reference.groups import World
from ddp_reference.training import Epoch


def epoch_line(number: int, epochs: int, trained: Epoch, score: Score) -> str:
    """One line of the log.

    Args:
        number: Of the epoch, from 1.
    """
    return (
        f"epoch {number:>{len(str(epochs))}}/{epochs}  loss {trained.loss:.4f}  "
        f"test accuracy {100 * score.accuracy:6.2f} %  {trained.samples_per_second:,.0f} samples/s"
    )


def summarise(
    config: Config, world: World, trained: Sequence[Epoch], score: Score, seconds: float
) -> dict[str, object]:
    """Everything about a run that a program may want to know; the content of --metrics.

    Args:
        trained: The epochs of this run, without those before a resumed checkpoint.
        seconds: From loading the data to the last evaluation.
    """
    train_seconds = sum(epoch.seconds for epoch in trained)
    samples = sum(epoch.samples for epoch in trained)
    return {
        "test_accuracy": score.accuracy,
        "test_correct": score.correct,
        "test_samples": score.samples,
        "test_loss": score.loss,
        "seconds": seconds,
        "train_seconds": train_seconds,
        "train_samples": samples,
        "samples_per_second": samples / train_seconds if samples else 0.0,
        "world_size": world.size,
        "backend": world.backend,
        "device": world.device.type,
        "epochs": [asdict(epoch) for epoch in trained],
        "config": {name: str(value) if isinstance(value, Path) else value for name, value in asdict(config).items()},
    }


def last_lines(metrics: dict) -> str:
    """Speed and result, for people."""
    ranks = f"{metrics['world_size']} rank{'s'[: metrics['world_size'] != 1]}"
    return (
        f"trained on {metrics['train_samples']:,} samples in {metrics['train_seconds']:.1f} s: "
        f"{metrics['samples_per_second']:,.0f} samples/s\n"
        f"test accuracy {100 * metrics['test_accuracy']:.2f} % "
        f"({metrics['test_correct']} of {metrics['test_samples']}, exact) "
        f"on {ranks} ({metrics['backend']}, {metrics['device']}) in {metrics['seconds']:.1f} s"
    )


def write_metrics(path: Path, metrics: dict, world: World) -> None:
    """Write a JSON file on rank 0. All ranks call it.

    Raises:
        UserError: The file cannot be written; on every rank.
    """
    error = None
    if world.rank == 0:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(metrics, indent=2) + "\n")
        except OSError as problem:
            error = UserError(f"cannot write the metrics {path}: {problem}")
    world.raise_together(error)
