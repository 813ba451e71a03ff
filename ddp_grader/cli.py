"""`ddp-grader FILE:FUNCTION`: run a function of a file on several ranks and say what happened."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

import tyro

from ddp_grader.runner import run_ranks
from ddp_grader.verdict import describe_run, shown_output


def run(
    function: Annotated[str, tyro.conf.Positional],
    ranks: int = 2,
    backend: Literal["gloo", "nccl"] = "gloo",
    timeout: float = 30.0,
) -> int:
    """Run FILE:FUNCTION on several ranks with a process group; exit 1 and a report if one fails.

    Args:
        function: For example train.py:check.
        ranks: The world size.
        backend: gloo (CPU) or nccl (GPU).
        timeout: Seconds until ranks that still run are called hung.
    """
    path, _, name = function.rpartition(":")
    if not Path(path).is_file():
        print(f"no file '{path}': give FILE:FUNCTION, e.g. train.py:check", file=sys.stderr)
        return 2
    result = run_ranks(_call, ranks, name, backend=backend, timeout=timeout, lesson_file=str(Path(path).resolve()))
    if result.ok:
        print(shown_output(result, lines=1000))
        print(f"all {ranks} ranks returned")
        return 0
    print(describe_run(result))
    return 1


def _call(module, name: str) -> None:
    getattr(module, name)()


def main() -> None:
    """Entry point."""
    sys.exit(tyro.cli(run, prog="ddp-grader"))
