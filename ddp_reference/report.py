"""What the user sees: a progress bar and log lines on rank 0, and the metrics file."""

import json
import math
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from rich.console import Console
from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar
from torch import Tensor

from ddp_reference.config import Config
from ddp_reference.errors import UserError
from ddp_reference.evaluation import Score
from ddp_reference.groups import World

REDRAW_S = 0.1


@dataclass(frozen=True)
class Epoch:
    """What an epoch of training came to, over all ranks."""

    loss: float  # mean cross-entropy of a sample when it was used, in nats
    samples: int
    seconds: float  # without evaluation


class Progress:
    """A bar below the log lines on a terminal; only the lines in a file or a pipe.

    On other ranks than 0 it does nothing, so that the caller need not ask for the rank.
    """

    def __init__(self, world: World, total_samples: int) -> None:
        self._console = Console(quiet=world.rank != 0)
        self.bar = Bar(  # `with progress.bar` draws it, and gives the cursor back after an error
            TextColumn("{task.description}"),
            BarColumn(bar_width=20),
            TextColumn("{task.percentage:>3.0f} %  {task.fields[numbers]}"),
            TimeRemainingColumn(compact=True),
            console=self._console,
            disable=world.rank != 0 or not self._console.is_terminal,
            auto_refresh=False,  # its thread would take time from training on the CPU
            transient=True,
        )
        self._task = self.bar.add_task("", total=total_samples, numbers="")
        self._samples = 0
        self._began = time.perf_counter()
        self._drawn = -math.inf

    def begin_epoch(self, number: int, epochs: int) -> None:
        """Say which epoch, from 1, the coming steps belong to."""
        self._name = f"epoch {number:>{len(str(epochs))}}/{epochs}"
        self.bar.update(self._task, description=self._name)

    def step(self, samples: int, loss: Tensor) -> None:
        """Move the bar on by the samples of all ranks. `loss` is a scalar, of this rank's batch."""
        self._samples += samples
        now = time.perf_counter()
        if self.bar.disable or now - self._drawn < REDRAW_S:
            return  # before the loss is read, which waits for the device
        self._drawn = now
        numbers = f"loss {loss.item():.4f}  {self._samples / (now - self._began):,.0f} samples/s"
        self.bar.update(self._task, completed=self._samples, numbers=numbers, refresh=True)

    def end_epoch(self, trained: Epoch, score: Score) -> None:
        """Print a line above the bar."""
        self._console.print(
            f"{self._name}  loss {trained.loss:.4f}  test accuracy {100 * score.accuracy:6.2f} %  "
            f"{trained.samples / trained.seconds:,.0f} samples/s",
            highlight=False,
            soft_wrap=True,
        )


def report(config: Config, world: World, trained: Sequence[Epoch], score: Score, seconds: float) -> None:
    """Say at the end how fast and how good it was, and write the file of --metrics.

    All ranks call it. `trained` has the epochs of this run, without those before a resumed checkpoint. Raises
    UserError, on every rank, if the file cannot be written.
    """
    samples = sum(epoch.samples for epoch in trained)
    train_seconds = sum(epoch.seconds for epoch in trained)
    speed = samples / train_seconds if samples else 0.0
    error = None
    if world.rank == 0:
        print(f"trained on {samples:,} samples in {train_seconds:.1f} s: {speed:,.0f} samples/s")
        print(
            f"test accuracy {100 * score.accuracy:.2f} % ({score.correct} of {score.samples}, exact)"
            f" on {world.size} rank{'s'[: world.size != 1]} ({world.backend}, {world.device.type})"
            f" in {seconds:.1f} s",
            flush=True,
        )
        metrics = {
            **{f"test_{name}": value for name, value in asdict(score).items()},
            "seconds": seconds,
            "train_seconds": train_seconds,
            "train_samples": samples,
            "samples_per_second": speed,
            "world_size": world.size,
            "backend": world.backend,
            "device": world.device.type,
            "epochs": [asdict(epoch) for epoch in trained],
            "config": asdict(config),
        }
        try:
            if config.metrics:
                config.metrics.parent.mkdir(parents=True, exist_ok=True)
                config.metrics.write_text(json.dumps(metrics, indent=2, default=str) + "\n")
        except OSError as problem:
            error = UserError(f"cannot write the metrics {config.metrics}: {problem}")
    world.raise_together(error)
