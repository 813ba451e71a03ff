"""The user's side of the warm server."""

from __future__ import annotations

import atexit
import os
import socket
import subprocess
import sys
from dataclasses import dataclass
from multiprocessing.connection import Connection

from ddp_grader.output import Capture


@dataclass
class RankProcess:
    """A rank's process: its pid, the connection that it reports on, and what it prints."""

    pid: int
    conn: Connection
    capture: Capture


class Server:
    """One warm server, started at once, waited for at its first use."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        # A session of its own: Ctrl-C in the terminal goes to us alone, and we tidy up.
        self._process = subprocess.Popen(
            [sys.executable, "-m", "ddp_grader.server", str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        theirs.close()
        self._socket = ours
        self._answers = Connection(os.dup(ours.fileno()))
        self._ready = False
        self._owner = os.getpid()
        self.exits: dict[int, int] = {}
        atexit.register(self.close)

    @property
    def pid(self) -> int:
        """The server's process id."""
        return self._process.pid

    def fileno(self) -> int:
        """The descriptor that becomes readable when the server has something to tell."""
        return self._answers.fileno()

    def usable(self) -> bool:
        """False in a forked copy of the process that started it, and after its end."""
        return self._owner == os.getpid() and self._process.poll() is None

    def wait_until_ready(self) -> None:
        """Wait until PyTorch is imported in the server.

        Raises:
            RuntimeError: If the server could not start; says why.
        """
        if not self._ready:
            self._answer("ready")
            self._ready = True

    def fork_rank(self) -> RankProcess:
        """Start a fresh process that waits for its job."""
        self.wait_until_ready()
        ours, theirs = socket.socketpair()
        capture = Capture()
        socket.send_fds(self._socket, [b"f"], [theirs.fileno(), capture.write_fd])
        theirs.close()
        capture.close_write_end()
        _, pid = self._answer("forked")
        return RankProcess(pid, Connection(ours.detach()), capture)

    def clean(self) -> list[str]:
        """End every process that came out of the server; returns those that nobody expected."""
        self._socket.send(b"c")
        _, strays = self._answer("cleaned")
        self.exits.clear()
        return strays

    def note_exits(self) -> None:
        """Read the news of ended processes into `exits` (pid to wait status)."""
        while self._answers.poll():
            _, pid, status = self._answers.recv()
            self.exits[pid] = status

    def close(self) -> None:
        """End the server and all that it started."""
        if self._owner != os.getpid():
            return
        self._answers.close()
        self._socket.close()
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stderr.close()

    def _answer(self, kind: str) -> tuple:
        """The next answer of this kind; news of ended processes on the way is noted."""
        while True:
            try:
                answer = self._answers.recv()
            except (EOFError, OSError):
                raise RuntimeError(
                    f"the grader's server ended by itself:\n{self._last_words()}\n"
                    f"Check that `{sys.executable} -c 'import torch._dynamo'` works."
                ) from None
            if answer[0] == kind:
                return answer
            self.exits[answer[1]] = answer[2]

    def _last_words(self) -> str:
        self._process.wait()
        return self._process.stderr.read().decode(errors="replace")[-2000:]


_server: Server | None = None


def warm_server() -> Server:
    """The process-wide server. The first call starts it and returns at once: call it early."""
    global _server
    if _server is None or not _server.usable():
        _server = Server()
    return _server
