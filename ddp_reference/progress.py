"""What the user sees meanwhile: a progress bar and log lines, on rank 0."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as RichProgress

from ddp_reference.groups import World

REDRAW_S = 0.1


class Progress:
    """A bar below the log lines; only lines where the output is a file or a pipe.

    On other ranks than 0 it does nothing, so that nobody needs to ask for the rank.
    """

    def __init__(self, bar: RichProgress, total_samples: int, speak: bool) -> None:
        self._bar = bar
        self._speak = speak
        self._task = bar.add_task("training", total=total_samples, speed="")
        self._began = self._drawn = time.perf_counter()
        self._samples = 0

    def step(self, samples: int) -> None:
        """Move the bar on after a step on so many samples, of all ranks."""
        self._samples += samples
        now = time.perf_counter()
        if not self._bar.disable and now - self._drawn > REDRAW_S:
            self._drawn = now
            speed = f"{self._samples / (now - self._began):,.0f} samples/s"
            self._bar.update(self._task, completed=self._samples, speed=speed, refresh=True)

    def line(self, text: str) -> None:
        """Print a line above the bar, on rank 0."""
        if self._speak:
            self._bar.console.print(text, highlight=False, soft_wrap=True)


@contextmanager
def show_progress(world: World, total_samples: int) -> Iterator[Progress]:
    """Draw the bar while training and remove it afterwards, also after an error."""
    console = Console()
    bar = RichProgress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %  {task.fields[speed]}"),
        TimeRemainingColumn(),
        console=console,
        disable=world.rank != 0 or not console.is_terminal,
        auto_refresh=False,  # its thread would take time from training on the CPU
        transient=True,
    )
    with bar:
        yield Progress(bar, total_samples, speak=world.rank == 0)
