"""Reads the stack that faulthandler writes for a rank, and says what the rank waits in."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ddp_grader.outcomes import Place

_THREAD = re.compile(r"^(?:Current thread|Thread) 0x([0-9a-f]+)")
_FRAME = re.compile(r'^  File "(.*)", line (\d+|\?\?\?) in (.*)$')
_DISTRIBUTED = re.compile(r"[/\\]torch[/\\](distributed|nn[/\\]parallel)[/\\]")
_AUTOGRAD = re.compile(r"[/\\]torch[/\\](autograd[/\\]|_tensor\.py)")
_RENDEZVOUS = {"init_process_group", "new_group"}
_NOT_WAITING = {
    "wrapper",
    "__call__",
    "get_rank",
    "get_world_size",
    "is_initialized",
    "get_backend",
}


@dataclass(frozen=True)
class Stack:
    """Where a rank is: the learner's innermost line, and what that line waits in ('' if nothing known)."""

    place: Place | None
    waits_in: str
    raw: tuple[Place, ...]  # innermost first


def last_dump(text: str, main_thread: int) -> list[Place]:
    """The main thread's frames in the newest dump in `text`, innermost first."""
    frames: list[Place] = []
    in_main = False
    for line in text.splitlines():
        if header := _THREAD.match(line):
            # Several dumps may follow each other; the last one of the main thread wins.
            in_main = int(header.group(1), 16) == main_thread
            if in_main:
                frames = []
        elif in_main and (frame := _FRAME.match(line)):
            file, number, function = frame.groups()
            frames.append(Place(file, int(number) if number.isdigit() else 0, function))
    return frames


def read_stack(frames: list[Place], source: str) -> Stack:
    """Say where a rank is from its frames (innermost first) and the learner's file."""
    inner: list[Place] = []
    for frame in frames:
        if frame.file == source:
            return Stack(frame, _waits_in(inner), tuple(frames))
        inner.append(frame)
    return Stack(None, _waits_in(inner), tuple(frames))


def _waits_in(inner: list[Place]) -> str:
    """The collective that the frames inside the learner's line stand for, or ''."""
    outermost_first = list(reversed(inner))
    for frame in outermost_first:
        if _DISTRIBUTED.search(frame.file) and frame.function not in _NOT_WAITING:
            return _spoken(frame)
    if any(_AUTOGRAD.search(frame.file) for frame in inner):
        return "backward() (where DDP all-reduces gradients)"
    return ""


def _spoken(frame: Place) -> str:
    if "parallel" in frame.file:
        return {
            "__init__": "DistributedDataParallel(...) (which compares and broadcasts parameters)",
            "join": "the Join context",
        }.get(frame.function, "DistributedDataParallel's forward (which broadcasts buffers)")
    if "algorithms" in frame.file and "join" in frame.file:
        return "the Join context"
    return frame.function


def is_collective(stack: Stack) -> bool:
    """True if the rank waits for other ranks in a collective (not while a group is being made)."""
    return bool(stack.waits_in) and not any(frame.function in _RENDEZVOUS for frame in stack.raw)
