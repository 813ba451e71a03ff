"""Ports that no other process on this machine gets."""

from __future__ import annotations

import fcntl
import os
import random
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# Below the range that the kernel gives to `bind(port 0)` (32768 and up on Linux), so that
# no process that asks for 'any port' can be given one of ours.
_PORTS = range(20000, 30000)


@contextmanager
def reserved_port() -> Iterator[int]:
    """Yield a free TCP port; while the block runs, no other grading on this machine gets it.

    A port found by binding to 0 and closing again may be handed to someone else before it is used.
    Here a file lock per port, shared by all gradings on the machine, keeps it ours.

    Raises:
        RuntimeError: If no port in the range is free.
    """
    folder = Path(tempfile.gettempdir()) / f"ddp_grader-ports-{os.getuid()}"
    folder.mkdir(exist_ok=True)
    for port in random.sample(_PORTS, 200):
        with open(folder / str(port), "w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                continue  # another grading has it
            if _can_bind(port):
                yield port
                return
    raise RuntimeError(f"no free port between {_PORTS.start} and {_PORTS.stop}: close some programs")


def _can_bind(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("", port))
        except OSError:
            return False
    return True
