"""What can happen to one rank, one type for each, and the run that holds them all."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Place:
    """A line of somebody's code."""

    file: str
    line: int
    function: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True)
class Outcome:
    """What became of one rank.

    Attributes:
        rank: The rank it is about.
        output: What the rank printed (stdout and stderr together), with the middle cut out if it was long.
        place: The learner's line that it ended or waits at, if any of the learner's code ran.
    """

    rank: int
    output: str = field(default="", repr=False)
    place: Place | None = None


@dataclass(frozen=True)
class Returned(Outcome):
    """The function came to its end; `value` is what it returned (tensors as CPU copies)."""

    value: Any = None


@dataclass(frozen=True)
class NotAttempted(Outcome):
    """The stub of an exercise was called, e.g. `exercise == "4.1"`."""

    exercise: str = ""
    message: str = ""


@dataclass(frozen=True)
class Raised(Outcome):
    """An exception reached the top, in the function or while the learner's file was imported."""

    type: str = ""
    message: str = ""
    traceback: str = field(default="", repr=False)
    importing: bool = False


@dataclass(frozen=True)
class Hung(Outcome):
    """The rank was still running when nothing could end it any more, or at the deadline.

    `waits_in` names the collective it waits in, or is empty if it ran or slept elsewhere.
    """

    waits_in: str = ""


@dataclass(frozen=True)
class Died(Outcome):
    """The process ended without reporting: sys.exit, os._exit, a signal, or an abort in C++."""

    how: str = ""
    signal: int | None = None


class RanksFailed(AssertionError):
    """Not every rank returned. The message says what happened, rank by rank."""

    def __init__(self, message: str, run: Run) -> None:
        super().__init__(message)
        self.run = run


@dataclass(frozen=True)
class Run:
    """What happened when a function ran on several ranks.

    Attributes:
        outcomes: One outcome for each rank, in rank order.
        backend: "gloo" or "nccl".
        seconds: Wall time.
        left_running: Command lines of processes that the code had started and not ended (they were killed).
    """

    outcomes: list[Outcome]
    backend: str
    seconds: float
    left_running: list[str] = field(default_factory=list)

    @property
    def world_size(self) -> int:
        """The number of ranks that ran."""
        return len(self.outcomes)

    @property
    def ok(self) -> bool:
        """True if every rank returned."""
        return all(isinstance(outcome, Returned) for outcome in self.outcomes)

    @property
    def values(self) -> list[Any]:
        """Each rank's return value, in rank order.

        Raises:
            RanksFailed: If some rank did not return.
        """
        if not self.ok:
            from ddp_grader.verdict import describe_run

            raise RanksFailed(describe_run(self), self)
        return [outcome.value for outcome in self.outcomes]

    @property
    def outputs(self) -> list[str]:
        """What each rank printed, in rank order."""
        return [outcome.output for outcome in self.outcomes]
