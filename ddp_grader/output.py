"""What a rank prints: read as it comes, kept in part."""

from __future__ import annotations

import os

_HEAD = 16_000
_TAIL = 48_000


class Capture:
    """The read end of a rank's stdout and stderr. Keeps the beginning and the end, drops the middle.

    A rank that prints 100 MB must neither fill the disk nor block on a full pipe.
    """

    def __init__(self) -> None:
        self.read_fd, self.write_fd = os.pipe()
        os.set_blocking(self.read_fd, False)
        self._head = b""
        self._tail = b""
        self._dropped = 0

    def fileno(self) -> int:
        """The descriptor to wait on."""
        return self.read_fd

    def drain(self) -> bool:
        """Read what is there. Returns False at the end of the stream."""
        # At most 64 reads a call: a rank that prints without end must not keep us from our deadline.
        for _ in range(64):
            try:
                data = os.read(self.read_fd, 1 << 16)
            except BlockingIOError:
                return True
            if not data:
                return False
            self._keep(data)
        return True

    def _keep(self, data: bytes) -> None:
        room = _HEAD - len(self._head)
        self._head += data[:room] if room > 0 else b""
        self._tail += data[max(room, 0) :]
        if len(self._tail) > _TAIL:
            self._dropped += len(self._tail) - _TAIL
            self._tail = self._tail[-_TAIL:]

    def close_write_end(self) -> None:
        """Give up our copy of the write end, once the rank has its own."""
        os.close(self.write_fd)

    def close(self) -> None:
        """Stop reading."""
        os.close(self.read_fd)

    def text(self) -> str:
        """The captured text; a line says how much is missing from the middle."""
        gap = f"\n... {self._dropped:,} bytes left out ...\n".encode() if self._dropped else b""
        return (self._head + gap + self._tail).decode(errors="replace")
