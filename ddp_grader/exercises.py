"""What graders are written with: the exercise marker and the `grade` object."""

from __future__ import annotations

import re
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ddp_grader.environment import nccl_ranks
from ddp_grader.outcomes import Died, NotAttempted, Raised, Run
from ddp_grader.runner import run_ranks
from ddp_grader.verdict import WRONG_VALUE, GradeEnded, Verdict, explain, shown_output

_MISMATCH = re.compile(r"Collectives differ in the following aspects:.*", re.DOTALL)


def exercise(id: str, title: str, *, gpu: bool = True) -> pytest.MarkDecorator:
    """Mark a test as the grader of exercise `id`, e.g. `@exercise("4.1", "Broadcast the model")`.

    Args:
        gpu: False if there is nothing in it to run on a GPU: it is then graded once, on the CPU.
    """
    return pytest.mark.exercise(id, title, gpu=gpu)


class Grade:
    """Runs scenarios over one submission and ends the exercise with a verdict.

    Attributes:
        lesson_file: The learner's file.
        backend: "gloo" or "nccl".
    """

    def __init__(self, lesson_file: Path, backend: str) -> None:
        self.lesson_file = lesson_file
        self.backend = backend
        self.notes: list[str] = []
        self._last_run: Run | None = None

    def run(self, scenario: Callable, *args: Any, **options: Any) -> Run:
        """Run `scenario(lesson, *args)`; every rank must return, else the exercise ends here.

        Keyword Args:
            ranks: World size that is best (default 2). On NCCL fewer may run: see `run.world_size`.
            group, env, timeout: See `run_ranks`; the timeout is 8 seconds by default.
        """
        run = self.outcomes(scenario, *args, **options)
        if not run.ok:
            raise GradeEnded(explain(run, self._mismatch(run, scenario, args, options)))
        return run

    def _mismatch(self, run: Run, scenario: Callable, args: tuple, options: dict) -> str:
        """If Gloo aborted, PyTorch's own comparison of what the ranks passed to the collective, from a second run.

        Not from the first: in this mode PyTorch 2.14's DistributedDataParallel crashes.
        """
        if not any(isinstance(outcome, Died) and outcome.signal == signal.SIGABRT for outcome in run.outcomes):
            return ""
        second = self.outcomes(scenario, *args, **options, detail=True)
        for outcome in second.outcomes:
            if isinstance(outcome, Raised) and (found := _MISMATCH.search(outcome.message)):
                return " ".join(found.group().split())
        return ""

    def outcomes(
        self,
        scenario: Callable,
        *args: Any,
        ranks: int = 2,
        group: bool = True,
        env: Any = None,
        timeout: float = 8.0,
        detail: bool = False,
    ) -> Run:
        """Like `run`, but returns whatever happened. Only stubs and files that cannot be imported end the exercise."""
        size = nccl_ranks(ranks) if self.backend == "nccl" else ranks
        options = {"backend": self.backend, "group": group, "env": env, "timeout": timeout, "detail": detail}
        run = run_ranks(scenario, size, *args, lesson_file=str(self.lesson_file), **options)
        self._last_run = run
        if run.left_running:
            self.notes.append(f"your code left processes running (they were ended): {', '.join(run.left_running[:3])}")
        for outcome in run.outcomes:
            unusable = isinstance(outcome, Raised) and (outcome.importing or outcome.type == "MissingName")
            if isinstance(outcome, NotAttempted) or unusable:
                raise GradeEnded(explain(run))
        return run

    def fail(self, what: str, *, rank: int | None = None, cause: str = "", next_step: str = "") -> None:
        """End the exercise with 'wrong value'."""
        if rank is not None and not what.startswith(f"rank {rank}"):
            what = f"rank {rank}: {what}"
        output = shown_output(self._last_run) if self._last_run else ""
        raise GradeEnded(Verdict(WRONG_VALUE, what, "", cause, next_step, output))

    def check(self, ok: bool, what: str, *, rank: int | None = None, cause: str = "", next_step: str = "") -> None:
        """End the exercise with 'wrong value' unless `ok`."""
        if not ok:
            self.fail(what, rank=rank, cause=cause, next_step=next_step)

    def equal(self, actual: Any, expected: Any, *, what: str, **told: Any) -> None:
        """Compare exactly: tensors (value, shape, dtype), numbers, strings, lists, dicts."""
        self._compare(actual, expected, what, 0.0, 0.0, told)

    def close(
        self,
        actual: Any,
        expected: Any,
        *,
        what: str,
        rtol: float | None = None,
        atol: float | None = None,
        **told: Any,
    ) -> None:
        """Compare with torch.testing's tolerances, or those given."""
        self._compare(actual, expected, what, rtol, atol, told)

    def _compare(
        self,
        actual: Any,
        expected: Any,
        what: str,
        rtol: float | None,
        atol: float | None,
        told: dict,
    ) -> None:
        if not _same(actual, expected, rtol, atol):
            self.fail(f"{what} is {_spoken(actual)}, expected {_spoken(expected)}", **told)


def _same(actual: Any, expected: Any, rtol: float | None, atol: float | None) -> bool:
    import torch

    if isinstance(expected, dict):
        return (
            isinstance(actual, dict)
            and actual.keys() == expected.keys()
            and all(_same(actual[key], expected[key], rtol, atol) for key in expected)
        )
    if isinstance(expected, (list, tuple)):
        return (
            isinstance(actual, (list, tuple))
            and len(actual) == len(expected)
            and all(_same(a, e, rtol, atol) for a, e in zip(actual, expected, strict=True))
        )
    if isinstance(expected, torch.Tensor):
        if not isinstance(actual, torch.Tensor):
            return False
    elif isinstance(expected, bool) or not isinstance(expected, (int, float)):
        return type(actual) is type(expected) and actual == expected
    elif isinstance(actual, bool) or not isinstance(actual, (int, float)):
        return False
    else:  # numbers: 3 and 3.0 are the same
        actual, expected = (torch.tensor(float(n), dtype=torch.float64) for n in (actual, expected))
    try:
        torch.testing.assert_close(actual, expected, rtol=rtol, atol=atol, equal_nan=True)
    except AssertionError:
        return False
    return True


def _spoken(value: Any) -> str:
    import torch

    if isinstance(value, torch.Tensor):
        flat = value.flatten().tolist()
        numbers = flat[0] if value.dim() == 0 else flat[:8]
        more = " ..." if len(flat) > 8 else ""
        return f"{numbers}{more} (shape {list(value.shape)}, {str(value.dtype).removeprefix('torch.')})"
    text = repr(value)
    return text if len(text) <= 160 else text[:160] + " ..."
