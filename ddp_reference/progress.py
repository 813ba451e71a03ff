"""What the user sees meanwhile: a progress bar and log lines, on rank 0 only."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar
from torch import Tensor

from ddp_reference.groups import World

REDRAW_S = 0.1


class Progress:
    """A bar below the log lines on a terminal, only the lines in a file or a pipe.

    On other ranks than 0 it does nothing, so that the caller need not ask for the rank.
    """

    def __init__(self, bar: Bar, total_samples: int, speak: bool) -> None:
        self._bar = bar
        self._speak = speak
        self._task = bar.add_task("", total=total_samples, numbers="")
        self._samples = 0
        self._began = self._drawn = time.perf_counter()

    def begin(self, what: str) -> None:
        """Say what the coming steps belong to, such as 'epoch 3/15'."""
        self._bar.update(self._task, description=what)

    def step(self, samples: int, loss: Tensor) -> None:
        """Move the bar on.

        Args:
            samples: In this step, on all ranks.
            loss: Of this rank's batch, a scalar on the device. Read only when the bar is drawn,
                because reading waits for the device.
        """
        self._samples += samples
        now = time.perf_counter()
        if self._bar.disable or now - self._drawn < REDRAW_S:
            return
        self._drawn = now
        numbers = f"loss {loss.item():.4f}  {self._samples / (now - self._began):,.0f} samples/s"
        self._bar.update(self._task, completed=self._samples, numbers=numbers, refresh=True)

    def line(self, text: str) -> None:
        """Print a line above the bar."""
        if self._speak:
            self._bar.console.print(text, highlight=False, soft_wrap=True)


@contextmanager
def show_progress(world: World, total_samples: int) -> Iterator[Progress]:
    """Draw the bar while training, and remove it afterwards, also after an error."""
    console = Console()
    bar = Bar(
        TextColumn("{task.description}"),
        BarColumn(bar_width=20),
        TextColumn("{task.percentage:>3.0f} %  {task.fields[numbers]}"),
        TimeRemainingColumn(compact=True),
        console=console,
        disable=world.rank != 0 or not console.is_terminal,
        auto_refresh=False,  # its thread would take time from training on the CPU
        transient=True,
    )
    with bar:
        yield Progress(bar, total_samples, speak=world.rank == 0)
