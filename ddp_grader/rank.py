"""What happens inside a rank's process, from the fork to the report."""

from __future__ import annotations

import contextlib
import faulthandler
import importlib.util
import inspect
import os
import pickle
import re
import socket
import sys
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from multiprocessing.connection import Connection
from pathlib import Path
from types import ModuleType
from typing import Any

import cloudpickle
import torch
import torch.distributed as dist
from torch.utils import _pytree

from ddp_grader.lines import DUMP_SIGNAL, LineNotes

# A DataLoader's worker sends the exception on inside a longer one, with the traceback as its message.
_STUB_MESSAGE = re.compile(r"^(?:NotImplementedError: )?(Exercise (\d+\.\d+)\b.*)", re.MULTILINE)


@dataclass(frozen=True)
class Job:
    """What one rank is to do.

    Attributes:
        payload: cloudpickle of (function, args).
        source: The file whose lines we tell of (the learner's).
        lesson: Import `source` and pass the module as the first argument.
        env: Environment variables to set, or to unset if None.
        folder: Working directory; holds the rank's files `stack.N` and `line.N`.
        store_port: Port of rank 0's store if a process group is to be made, else None.
        timeout: Of the process group, in seconds.
    """

    payload: bytes
    source: str
    lesson: bool
    env: dict[str, str | None]
    folder: str
    rank: int
    world_size: int
    backend: str
    device_index: int
    store_port: int | None
    timeout: float
    detail: bool


_device = torch.device("cpu")


def device() -> torch.device:
    """The device that this rank's tensors must live on for its process group's backend.

    In a rank started by this package it is known; elsewhere it follows from the default group's backend.
    """
    return _device


class MissingName(AttributeError):
    """The learner's file lacks a name that the grader asks for."""


class Lesson(ModuleType):
    """The learner's module; asking it for a name that it lacks says so in the learner's terms."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise MissingName(
            f"{Path(self.__file__).name} has no '{name}': its definition was removed or renamed. "
            f"Put `def {name}(...)` back (compare with the original stub)"
        )


def caught(fn: Callable, *args: Any, **kwargs: Any) -> Exception | None:
    """The exception that `fn(*args, **kwargs)` raises, or None if it returns.

    An exercise that is not written yet is not caught.
    """
    try:
        fn(*args, **kwargs)
    except Exception as error:
        if _stub(error):
            raise
        return error
    return None


def _stub(error: BaseException) -> re.Match | None:
    """The message (1) and number (2) in a stub's NotImplementedError."""
    return _STUB_MESSAGE.search(str(error)) if isinstance(error, NotImplementedError) else None


def run_rank(conn_fd: int, output_fd: int) -> None:
    """Receive a Job on the socket, do it, report, and wait to be ended.

    Reports ("returned", pickled value, line), ("raised", fields...) or ("exit", code, line).
    """
    conn = Connection(conn_fd)
    for stream in (1, 2):
        os.dup2(output_fd, stream)
    os.close(output_fd)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    # The server's streams were buffered for another descriptor.
    sys.stdout = open(1, "w", buffering=1, closefd=False)
    sys.stderr = open(2, "w", buffering=1, closefd=False)
    try:
        job: Job = conn.recv()
    except EOFError:
        os._exit(0)  # the run was called off before it began
    pid = os.getpid()
    notes = _prepare(job)
    report = _do(job, notes)
    if os.getpid() != pid:
        os._exit(0)  # a fork made by the learner came back here: it has nothing to report
    with contextlib.suppress(Exception):
        sys.stdout.flush()
        sys.stderr.flush()
    conn.send(report)
    # Stay: a rank that left would break the connections of those that still run, and turn their hang into
    # a confusing 'connection closed by peer'. The parent ends us all together.
    with contextlib.suppress(EOFError):
        conn.recv()
    os._exit(0)


def _prepare(job: Job) -> LineNotes:
    for name, value in job.env.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
    os.chdir(job.folder)
    _tell_stack_when_asked(job)
    torch.set_num_threads(1)
    # Ranks that start alike would hide a forgotten broadcast.
    torch.manual_seed(1000 + job.rank)
    if job.detail:
        dist.set_debug_level(dist.DebugLevel.DETAIL)
    return LineNotes(Path(job.folder) / f"line.{job.rank}", job.source)


def _tell_stack_when_asked(job: Job) -> None:
    """Write all threads' Python stacks to `stack.N` for each byte that comes through the FIFO `ask.N`.

    A thread does it: a signal would interrupt system calls of the rank, which makes a TCPStore that is
    just connecting print an error and wait a second. The signal stays as a last resort, for a rank that is
    stuck in C++ with the interpreter's lock held.
    """
    stack_file = open(f"{job.folder}/stack.{job.rank}", "w")
    faulthandler.enable(stack_file)  # a crash in C++ leaves the Python line behind
    faulthandler.register(DUMP_SIGNAL, stack_file, all_threads=True)

    def answer() -> None:
        # Opened for writing, too: then it never ends, however often our parent opens and closes it.
        with open(f"{job.folder}/ask.{job.rank}", "r+b", buffering=0) as requests:
            while requests.read(1):
                faulthandler.dump_traceback(stack_file, all_threads=True)

    threading.Thread(target=answer, daemon=True, name="ddp_grader").start()


def _do(job: Job, notes: LineNotes) -> tuple:
    importing = True
    try:
        function, args = pickle.loads(job.payload)
        if job.lesson:
            args = (_import_lesson(job.source), *args)
        importing = False
        _set_device(job)
        if job.store_port is not None:
            _init_group(job)
        notes.start()
        value = function(*args)
        notes.stop()
        return ("returned", _portable(value), notes.line)
    except SystemExit as leaving:
        return ("exit", leaving.code, notes.line)
    except BaseException as error:
        notes.stop()
        if stub := _stub(error):
            return ("not attempted", stub[2], stub[1])
        return _raised(error, job, importing)


def _import_lesson(path: str) -> Lesson:
    spec = importlib.util.spec_from_file_location(Path(path).stem, path)
    module = Lesson(spec.name)
    module.__spec__, module.__file__, module.__loader__ = spec, path, spec.loader
    sys.modules[spec.name] = module  # dataclasses and pickle look a class's module up
    spec.loader.exec_module(module)
    return module


def _set_device(job: Job) -> None:
    global _device
    if job.backend == "nccl":
        _device = torch.device("cuda", job.device_index)
        torch.cuda.set_device(_device)


def _wait_for_store(port: int) -> None:
    """Wait until rank 0's store listens. A TCPStore that knocks too early waits half a second before it tries again."""
    while True:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
            return
        time.sleep(0.002)


def _init_group(job: Job) -> None:
    if job.rank > 0:
        _wait_for_store(job.store_port)
    store = dist.TCPStore(
        "127.0.0.1",
        job.store_port,
        job.world_size,
        is_master=job.rank == 0,
        timeout=timedelta(seconds=60),
        wait_for_workers=False,
    )
    dist.init_process_group(
        job.backend,
        store=store,
        rank=job.rank,
        world_size=job.world_size,
        timeout=timedelta(seconds=job.timeout),
    )


def _portable(value: Any) -> bytes:
    """Pickle a value for another process: tensors as CPU copies without their graph."""

    def copy(leaf: Any) -> Any:
        return leaf.detach().cpu().clone() if isinstance(leaf, torch.Tensor) else leaf

    # Classes of a notebook travel by value. Those of a learner's file do not, and must not: our parent,
    # which compares the values, runs no code of the learner's.
    return cloudpickle.dumps(_pytree.tree_map(copy, value))


def _raised(error: BaseException, job: Job, importing: bool) -> tuple:
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if frame.filename == job.source]
    line, function = (own[-1].lineno, own[-1].name) if own else (0, "")
    if isinstance(error, SyntaxError) and error.filename == job.source:
        line = error.lineno or 0
    text = "".join(traceback.format_exception(error))
    return ("raised", type(error).__name__, str(error), line, function, text, importing)


def source_of(fn: Callable) -> str:
    """The file that a function was written in (in a notebook, its cell's name)."""
    return inspect.unwrap(fn).__code__.co_filename
