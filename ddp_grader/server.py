"""The warm server: a process that has imported PyTorch and forks a fresh process for each rank.

Importing torch and torch._dynamo (which the first DDP construction needs) takes seconds; forking a process that
already has them takes milliseconds. Python's own multiprocessing.forkserver does the forking, but it leaves
ranks running when its user is killed and knows nothing of processes that a rank started. This server
adopts such orphans (PR_SET_CHILD_SUBREAPER), so that it can end *everything* that came out of a run,
and it does so when its user goes away for whatever reason, since the control socket then closes.

CUDA is never initialised here: a forked process could not use it.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import os
import selectors
import signal
import socket
import sys
from multiprocessing.connection import Connection
from pathlib import Path

# What ranks need, and what PyTorch would otherwise import at first use, in every rank anew.
_PRELOADED = (
    "psutil",
    "cloudpickle",
    "torch.distributed",
    "torch.nn.parallel",
    "torch.optim",
    "torch._dynamo",
    "torch.distributed.algorithms.ddp_comm_hooks.default_hooks",
    "torch.distributed.algorithms.join",
    "ddp_grader.rank",
    "ddp_grader.demo",
)
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


def prctl(option: int, value: int) -> None:
    """Call Linux's prctl(2); does nothing on other systems."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def serve(control_fd: int) -> None:
    """Serve requests from the socket `control_fd` until it closes, then end every descendant and itself.

    Requests: "fork" with two descriptors (the rank's socket, its output pipe), answered with ("forked", pid);
    "clean", answered with ("cleaned", command lines of processes that had to be killed besides
    the ranks). Unasked: ("exited", pid, wait status) whenever a child ends.
    """
    prctl(_PR_SET_CHILD_SUBREAPER, 1)
    control = socket.socket(fileno=control_fd)
    wake_read, wake_write = socket.socketpair()
    for end in (wake_read, wake_write):
        end.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake_write.fileno(), warn_on_full_buffer=False)
    answers = Connection(os.dup(control_fd))
    ranks: set[int] = set()
    with selectors.DefaultSelector() as selector:
        selector.register(control, selectors.EVENT_READ)
        selector.register(wake_read, selectors.EVENT_READ)
        answers.send(("ready",))
        while True:
            selector.select()
            with contextlib.suppress(BlockingIOError):
                wake_read.recv(4096)
            # Look before we block: only a readable control socket may be read.
            try:
                control.setblocking(False)
                request, fds, _, _ = socket.recv_fds(control, 1, 2)
            except BlockingIOError:
                request, fds = None, []
            finally:
                control.setblocking(True)
            for pid, status in _reap():
                answers.send(("exited", pid, status))
            if request is None:
                continue
            if request == b"f":
                pid = os.fork()
                if pid == 0:
                    _become_rank(fds, [control, answers, wake_read, wake_write, selector])
                ranks.add(pid)
                for fd in fds:
                    os.close(fd)
                answers.send(("forked", pid))
            elif request == b"c":
                strays = end_descendants(besides=ranks)
                ranks.clear()
                answers.send(("cleaned", strays))
            else:  # the user closed the socket, or is dead
                end_descendants()
                os._exit(0)  # without PyTorch's half a second of tidying up


def _become_rank(fds: list[int], of_server: list) -> None:
    """Turn this freshly forked process into a rank. Never returns."""
    from ddp_grader.rank import run_rank

    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for thing in of_server:
        thing.close()
    prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)  # even if the server itself is killed
    try:
        run_rank(*fds)
    finally:
        os._exit(99)  # run_rank leaves by itself; nothing of the server may run on in this process


def _reap() -> list[tuple[int, int]]:
    ended = []
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return ended
        if pid == 0:
            return ended
        ended.append((pid, status))


def end_descendants(besides: set[int] = frozenset()) -> list[str]:
    """Kill every process below this one, however it was started.

    Args:
        besides: Processes that are expected and not told of.

    Returns:
        Command lines of the other ones.
    """
    import psutil

    me = psutil.Process()
    strays = {}
    while children := me.children(recursive=True):
        for child in children:
            with contextlib.suppress(psutil.NoSuchProcess):
                if child.pid not in besides and child.status() != psutil.STATUS_ZOMBIE:
                    strays[child.pid] = " ".join(child.cmdline())[:80] or child.name()
                child.kill()
        psutil.wait_procs(children, timeout=0.01)
        _reap()
    return list(strays.values())


def main() -> None:
    """Import what ranks need, then serve."""
    # One thread a rank: ranks share the machine's cores. Must be set before torch is imported.
    os.environ["OMP_NUM_THREADS"] = "1"
    # A rank whose peer is lost prints pages of C++ frames as warnings; we tell the cause ourselves.
    os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "ERROR")
    for module in _PRELOADED:
        importlib.import_module(module)

    if Path("/proc/self/task").exists() and len(os.listdir("/proc/self/task")) > 1:
        raise RuntimeError("the grader's server must have one thread before it forks")
    gc.collect()
    gc.freeze()  # the collector then leaves these pages alone, and ranks share them
    serve(int(sys.argv[1]))


if __name__ == "__main__":
    main()
