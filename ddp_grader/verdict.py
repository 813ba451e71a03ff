"""From what happened to each rank to one verdict, told in the learner's terms."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from ddp_grader.outcomes import Died, Hung, NotAttempted, Outcome, Place, Raised, Returned, Run

PASSED, NOT_ATTEMPTED, WRONG_VALUE = "passed", "not attempted", "wrong value"
RAISED, HUNG, DIED, GRADER_ERROR = "raised", "hung", "died", "grader error"


@dataclass(frozen=True)
class Verdict:
    """The result of one exercise: a status and the parts of its message (each may be empty)."""

    status: str
    what: str = ""
    where: str = ""
    cause: str = ""
    next_step: str = ""
    output: str = ""
    traceback: str = ""

    @property
    def message(self) -> str:
        """The parts, one below the other, labelled."""
        parts = [
            ("what", self.what),
            ("where", self.where),
            ("cause", self.cause),
            ("next step", self.next_step),
        ]
        lines = [_labelled(label, text) for label, text in parts if text]
        if self.output:
            lines.append("printed by your code\n" + self.output)
        return "\n".join(lines)


def _labelled(label: str, text: str) -> str:
    first, *rest = text.splitlines()
    return "\n".join([f"{label:<10} {first}", *(" " * 11 + line for line in rest)])


class GradeEnded(Exception):
    """Ends the grading of an exercise with a verdict other than 'passed'."""

    def __init__(self, verdict: Verdict) -> None:
        super().__init__(f"{verdict.status}\n{verdict.message}")
        self.verdict = verdict


def explain(run: Run, mismatch: str = "") -> Verdict:
    """The verdict on a run in which some rank did not return.

    `mismatch` is PyTorch's own description of collectives that do not fit together, if there is one.

    The cause comes first: a rank that died or raised explains others that wait for it.
    """
    output = shown_output(run)
    if left := _of(run, NotAttempted):
        return Verdict(NOT_ATTEMPTED, left[0].message)
    if died := _of(run, Died):
        return _explain_died(run, died, output, mismatch)
    if raised := _of(run, Raised):
        return _explain_raised(run, raised, output)
    return _explain_hung(run, _of(run, Hung), output)


def describe_run(run: Run) -> str:
    """The verdict on a failed run as text."""
    verdict = explain(run)
    return f"{verdict.status}\n{verdict.message}"


def _of(run: Run, kind: type) -> list:
    return [outcome for outcome in run.outcomes if isinstance(outcome, kind)]


def _explain_died(run: Run, died: list[Died], output: str, mismatch: str) -> Verdict:
    first = died[0]
    by_signal = first.signal is not None
    return Verdict(
        DIED,
        what=f"{ranks([o.rank for o in died])} {first.how} and never reported completion",
        where=_tell_all(run),
        cause=mismatch or "a collective whose ranks pass tensors of different sizes or dtypes aborts Gloo"
        if first.signal == 6
        else "the process was lost in the middle of its work"
        if by_signal
        else "the code ended its own process; a rank must return from the function instead",
        next_step="compare shape and dtype of what each rank passes in at that line"
        if first.signal == 6
        else "look at the last line that ran, given above"
        if by_signal
        else "remove the exit; return normally, or raise an exception with a message",
        output=output,
    )


def _explain_raised(run: Run, raised: list[Raised], output: str) -> Verdict:
    # 'Connection closed' is what a rank sees when another one is lost: tell of the other one.
    first = next((o for o in raised if "closed by peer" not in o.message), raised[0])
    same = [o.rank for o in raised if (o.type, o.message) == (first.type, first.message)]
    text = short(first.message)
    if first.importing:
        return Verdict(
            RAISED,
            what=f"your file could not be imported: {first.type}: {text}",
            where=str(shown_place(first.place)) if first.place else "",
            cause="the grader imports the file in every rank; this error comes before any exercise runs",
            next_step="run `python` on the file and mend the error",
            output=output,
            traceback=first.traceback,
        )
    waiting = _of(run, Hung)
    cause = f"{ranks([o.rank for o in waiting])} wait for {ranks(same)} in vain" if waiting else ""
    if first.type == "MissingName":
        cause = "the grader calls this name"
    return Verdict(
        RAISED,
        what=f"{ranks(same)} raised {first.type}: {text}",
        where=_tell_all(run) if waiting else str(shown_place(first.place)) if first.place else "",
        cause=cause or "an exception that the exercise does not ask for reached the caller",
        next_step="mend the line above; `-v` shows the whole traceback",
        output=output,
        traceback=first.traceback,
    )


def _explain_hung(run: Run, hung: list[Hung], output: str) -> Verdict:
    waits = {outcome.waits_in for outcome in hung}
    others = [o for o in run.outcomes if not isinstance(o, Hung)]
    if not all(waits):
        cause = "a rank did not come to an end in time"
        step = "look at that line: is there a loop, a sleep or a wait that never ends?"
    elif others:
        cause = f"{ranks([o.rank for o in others])} left without entering that collective"
        step = "every rank must call the same collectives in the same order: move the call out of the branch"
    elif len(waits) > 1:
        cause = "the ranks wait in different collectives, so none of them can be completed"
        step = "make all ranks call the same collectives in the same order"
    else:
        cause = "all ranks wait, and nothing moves: they wait for different calls, groups or partners"
        step = "compare what each rank calls at these lines"
    return Verdict(
        HUNG,
        what=f"{ranks([o.rank for o in hung])} never came back",
        where=_tell_all(run),
        cause=cause,
        next_step=step,
        output=output,
    )


def _tell_all(run: Run) -> str:
    return "\n".join(_tell(outcome) for outcome in run.outcomes)


def _tell(outcome: Outcome) -> str:
    where = f" at {shown_place(outcome.place)}" if outcome.place else ""
    match outcome:
        case Returned():
            return f"rank {outcome.rank} returned{where}"
        case Hung(waits_in=""):
            return f"rank {outcome.rank} still runs{where}" if where else f"rank {outcome.rank} still runs"
        case Hung():
            return f"rank {outcome.rank} waits in {outcome.waits_in}{where}"
        case Died():
            return f"rank {outcome.rank} {outcome.how}{where}"
        case Raised():
            return f"rank {outcome.rank} raised {outcome.type}{where}"
    return f"rank {outcome.rank} called a stub"


def ranks(numbers: list[int]) -> str:
    """'rank 1' or 'ranks 0 and 2'."""
    if len(numbers) == 1:
        return f"rank {numbers[0]}"
    return f"ranks {', '.join(map(str, numbers[:-1]))} and {numbers[-1]}"


def shown_place(place: Place) -> Place:
    """The place with its path as short as the user's working directory allows."""
    try:
        file = os.path.relpath(place.file) if place.file.startswith("/") else place.file
    except ValueError:
        file = place.file
    return Place(file if not file.startswith("../..") else Path(place.file).name, place.line)


def short(text: str, limit: int = 400) -> str:
    """At most `limit` characters of a text."""
    return text if len(text) <= limit else text[:limit] + " ..."


def shown_output(run: Run, lines: int = 12) -> str:
    """The last lines that each rank printed, prefixed with the rank."""
    shown = []
    for outcome in run.outcomes:
        all_lines = outcome.output.splitlines()
        if len(all_lines) > lines:
            shown.append(f"rank {outcome.rank} | ... {len(all_lines) - lines} lines before")
        shown += [f"rank {outcome.rank} | {short(line, 160)}" for line in all_lines[-lines:]]
    return "\n".join(shown)
