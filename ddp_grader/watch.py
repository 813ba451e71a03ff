"""Notices that ranks hang, long before a timeout.

A rank is given up when (1) the deadline passes, or (2) it sleeps in a collective, and so does every other rank
that still runs, and nothing moves from one look to the next. In (2) somebody either left without
entering that collective, or all of them wait for each other: no one is left who could wake them.
"""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path

import psutil

from ddp_grader import lines
from ddp_grader.stacks import Stack, is_collective, last_dump, read_stack

_FIRST_LOOK = 0.15  # seconds after a rank ended, while others run
_BETWEEN = 0.1
_LOOKS_IF_ONE_ENDED = 4
_LOOKS_IF_NONE_ENDED = 20  # nobody has left: a busy machine may only be slow


class HangWatch:
    """Looks at the running ranks of one run now and then."""

    def __init__(self, folder: Path, source: str) -> None:
        self._folder = folder
        self._source = source
        self._next = time.monotonic() + 4 * _FIRST_LOOK
        self._ended_seen = False
        self._previous: dict[int, tuple] = {}
        self._same_looks = 0

    def pause(self, deadline: float) -> float:
        """Seconds until the next look is due."""
        return max(0.0, min(self._next, deadline + 0.001) - time.monotonic())

    def look(self, pids: dict[int, int], someone_ended: bool, late: bool) -> dict[int, Stack]:
        """The stacks of all running ranks if they hang, else nothing."""
        now = time.monotonic()
        if someone_ended and not self._ended_seen:
            self._ended_seen = True
            self._next = min(self._next, now + _FIRST_LOOK)
        if not pids or (now < self._next and not late):
            return {}
        self._next = now + _BETWEEN
        if not late and not all(_sleeps(pid) for pid in pids.values()):
            self._previous, self._same_looks = {}, 0
            return {}
        stacks = self._stacks(pids, late)
        if late:  # a rank that works waits in nothing, wherever its stack passes through
            return {rank: s if _sleeps(pids[rank]) else Stack(s.place, "", s.raw) for rank, s in stacks.items()}
        state = {rank: (stack.raw, _cpu_seconds(pids[rank])) for rank, stack in stacks.items()}
        stuck = all(is_collective(stack) for stack in stacks.values())
        self._same_looks = self._same_looks + 1 if stuck and _same(state, self._previous) else 0
        self._previous = state
        enough = _LOOKS_IF_ONE_ENDED if someone_ended else _LOOKS_IF_NONE_ENDED
        return stacks if self._same_looks >= enough else {}

    def _stacks(self, pids: dict[int, int], late: bool) -> dict[int, Stack]:
        """Ask each rank for its Python stack."""
        before = {rank: self._dump_size(rank) for rank in pids}
        for rank in pids:
            self._ask(rank)
        return {rank: self._read(rank, before[rank], pids[rank] if late else None) for rank in pids}

    def _dump_size(self, rank: int) -> int:
        file = self._folder / f"stack.{rank}"
        return file.stat().st_size if file.exists() else 0

    def _ask(self, rank: int) -> None:
        with contextlib.suppress(OSError):  # a rank that has only just started does not listen yet
            fifo = os.open(self._folder / f"ask.{rank}", os.O_WRONLY | os.O_NONBLOCK)
            os.write(fifo, b"?")
            os.close(fifo)

    def _read(self, rank: int, before: int, pid_if_late: int | None) -> Stack:
        file = self._folder / f"stack.{rank}"
        if not self._wait_for_dump(rank, before) and pid_if_late:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid_if_late, lines.DUMP_SIGNAL)
            self._wait_for_dump(rank, before)
        _, main_thread = lines.read(self._folder / f"line.{rank}")
        text = file.read_text(errors="replace")[before:] if file.exists() else ""
        return read_stack(last_dump(text, main_thread), self._source)

    def _wait_for_dump(self, rank: int, before: int) -> bool:
        """Wait until a dump is written whole: the file has grown, and grows no more."""
        end = time.monotonic() + 0.25
        size = before
        while time.monotonic() < end:
            time.sleep(0.004)
            now = self._dump_size(rank)
            if now > before and now == size:
                return True
            size = now
        return False


def _same(state: dict[int, tuple], previous: dict[int, tuple]) -> bool:
    # Dumping a stack costs a rank a little time, work costs it more.
    return state.keys() == previous.keys() and all(
        state[rank][0] == previous[rank][0] and state[rank][1] - previous[rank][1] <= 0.02 for rank in state
    )


def _sleeps(pid: int) -> bool:
    """True if no thread of the process runs or waits for a core.

    The main thread alone does not tell: on a busy machine it may wait for a Gloo thread that waits for a core.
    """
    tasks = Path(f"/proc/{pid}/task")
    if not tasks.is_dir():  # not Linux: the process's own state must do
        with contextlib.suppress(psutil.NoSuchProcess):
            return psutil.Process(pid).status() in (psutil.STATUS_SLEEPING, psutil.STATUS_IDLE)
        return False
    try:
        states = [(task / "stat").read_text().rpartition(")")[2].split()[0] for task in tasks.iterdir()]
    except OSError:
        return False  # a thread ended while we looked
    return all(state in "SI" for state in states)


def _cpu_seconds(pid: int) -> float:
    try:
        times = psutil.Process(pid).cpu_times()
    except psutil.NoSuchProcess:
        return -1.0
    return times.user + times.system
