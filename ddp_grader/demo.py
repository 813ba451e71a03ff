"""Runs a demonstration on several ranks and prints what each printed, in rank order."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from ddp_grader.environment import gpu_count
from ddp_grader.outcomes import NotAttempted
from ddp_grader.runner import run_ranks
from ddp_grader.verdict import describe_run, shown_output


def show(fn: Callable, ranks: int = 2, args: tuple[Any, ...] = (), *, group: bool = True, **options: Any) -> None:
    """Run `fn(*args)` on `ranks` fresh processes and print their output, each line prefixed with its rank.

    Uses NCCL if there are as many GPUs as ranks, else Gloo on the CPU. Never raises for what the ranks do: code that is
    not written yet, an exception or a hang is told in a few lines.

    Args:
        group: Initialise the default process group first.
        **options: As for `run_ranks` (env, timeout).
    """
    backend = "nccl" if gpu_count() >= ranks else "gloo"
    run = run_ranks(fn, ranks, *args, backend=backend, group=group, **options)
    left = [o for o in run.outcomes if isinstance(o, NotAttempted)]
    if left:
        print(left[0].message)
    elif run.ok:
        if text := shown_output(run, lines=1000):
            print(text)
    else:
        print(describe_run(run))
    sys.stdout.flush()
