"""The last line that a rank executed in the learner's file, readable from outside.

A rank that returned early, called os._exit or crashed can no longer say where. So each rank notes the
line as it goes, in a small file mapped into memory, which its parent reads.
"""

from __future__ import annotations

import mmap
import signal
import struct
import sys
import threading
from pathlib import Path
from types import FrameType

# Makes a rank write its Python stack, as a last resort.
DUMP_SIGNAL = signal.SIGUSR1
_SLOT = struct.Struct("<qq")  # last line, the main thread's identity


def create(path: Path) -> None:
    """Make the file that a rank notes its line in."""
    path.write_bytes(_SLOT.pack(0, 0))


def read(path: Path) -> tuple[int, int]:
    """(last line or 0, main thread's identity or 0)."""
    return _SLOT.unpack(path.read_bytes())


class LineNotes:
    """Notes each executed line of one source file, through sys.settrace.

    Frames of other files are declined when they are entered, so torch runs at nearly full speed.
    """

    def __init__(self, slot: Path, source: str) -> None:
        with open(slot, "r+b") as file:
            self._memory = mmap.mmap(file.fileno(), _SLOT.size)
        self._source = source
        self.line = 0
        self._note(0)

    def start(self) -> None:
        """Begin to note."""
        sys.settrace(self._on_call)

    def stop(self) -> None:
        """Stop; the last line stays."""
        sys.settrace(None)

    def _note(self, line: int) -> None:
        self.line = line
        _SLOT.pack_into(self._memory, 0, line, threading.main_thread().ident)

    def _on_call(self, frame: FrameType, event: str, arg: object):
        if frame.f_code.co_filename != self._source or frame.f_code.co_name == "<module>":
            return None
        self._note(frame.f_lineno)
        return self._on_line

    def _on_line(self, frame: FrameType, event: str, arg: object):
        if event == "line":
            self._note(frame.f_lineno)
        return self._on_line
