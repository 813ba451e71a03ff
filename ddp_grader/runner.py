"""Runs a function on N ranks and watches them until the outcome of each is known."""

from __future__ import annotations

import contextlib
import os
import pickle
import selectors
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import cloudpickle

from ddp_grader import lines, outcomes
from ddp_grader.client import RankProcess, Server, warm_server
from ddp_grader.environment import backend_env, gpu_count, torchrun_env
from ddp_grader.outcomes import Outcome, Place, Run
from ddp_grader.ports import reserved_port
from ddp_grader.watch import HangWatch

Env = Mapping[str, "str | None"] | Callable[[int], Mapping[str, "str | None"]] | None


def run_ranks(
    fn: Callable,
    world_size: int = 2,
    *args: Any,
    backend: str = "gloo",
    group: bool = True,
    env: Env = None,
    timeout: float = 30.0,
    lesson_file: str | None = None,
    detail: bool = False,
) -> Run:
    """Run `fn(*args)` in `world_size` fresh processes and say exactly what happened in each.

    Args:
        fn: Any function, also one of a notebook or test: it travels by value (cloudpickle).
        world_size: The number of ranks.
        *args: Passed to fn. Whatever cloudpickle takes.
        backend: "gloo" (CPU) or "nccl" (rank i on GPU i modulo the number of GPUs).
        group: Initialise the default process group first. Without it the ranks only have
            torchrun's environment variables, with a MASTER_PORT that is free.
        env: More environment variables (None unsets one): a mapping, or a function of the rank that returns one.
        timeout: Seconds after which ranks that still run are ended and called hung. A rank that waits for one
            that will never come is found within about a second in any case.
        lesson_file: A Python file to import in each rank and pass to fn as its first argument.
        detail: Check each collective's shape on all ranks (TORCH_DISTRIBUTED_DEBUG=DETAIL).

    Returns:
        A Run: `run.values` (raises RanksFailed with a report if a rank did not return), `run.outcomes`,
        `run.outputs`. No process is left.
    """
    started = time.monotonic()
    # cloudpickle gives code that travels by value this file name.
    source = lesson_file or "<dynamic-code>"
    shown = lesson_file or _source_of(fn)
    payload = _pickle_by_value(fn, args)
    server = warm_server()
    server.wait_until_ready()
    deadline = time.monotonic() + timeout
    with (
        tempfile.TemporaryDirectory(prefix="ddp_grader-", ignore_cleanup_errors=True) as folder,
        reserved_port() as port,
    ):
        watch = _Ranks(server, Path(folder), source, shown)
        try:
            jobs = [
                _job(
                    rank,
                    world_size,
                    payload,
                    source,
                    lesson_file,
                    env,
                    folder,
                    backend,
                    group,
                    port,
                    timeout,
                    detail,
                )
                for rank in range(world_size)
            ]
            watch.start(jobs)
            found = watch.wait(deadline)
        finally:
            strays = watch.end()
    return Run(found, backend, time.monotonic() - started, strays)


def _source_of(fn: Callable) -> str:
    from ddp_grader.rank import source_of

    return source_of(fn)


def _pickle_by_value(fn: Callable, args: tuple) -> bytes:
    module = sys.modules.get(getattr(fn, "__module__", None))
    by_value = (
        module is not None and module.__name__ != "__main__" and not module.__name__.startswith(("torch", "ddp_grader"))
    )
    if by_value:
        # A rank cannot import a test file by its name.
        cloudpickle.register_pickle_by_value(module)
    try:
        return cloudpickle.dumps((fn, args))
    finally:
        if by_value:
            cloudpickle.unregister_pickle_by_value(module)


def _job(
    rank,
    world_size,
    payload,
    source,
    lesson_file,
    env,
    folder,
    backend,
    group,
    port,
    timeout,
    detail,
):
    from ddp_grader.rank import Job

    own = env(rank) if callable(env) else env
    return Job(
        payload=payload,
        source=source,
        lesson=lesson_file is not None,
        env={
            **torchrun_env(rank, world_size, port),
            **backend_env(backend, world_size),
            **(own or {}),
        },
        folder=folder,
        rank=rank,
        world_size=world_size,
        backend=backend,
        device_index=rank % gpu_count() if backend == "nccl" else 0,
        store_port=port if group else None,
        # The group's own timeout comes after ours, so that our diagnosis is told, not 'timed out'.
        timeout=timeout + 30,
        detail=detail,
    )


class _Ranks:
    """The processes of one run."""

    def __init__(self, server: Server, folder: Path, source: str, shown: str) -> None:
        self._server = server
        self._folder = folder
        self._source = source  # the file's name in the ranks, and as we tell it
        self._shown = shown
        self._ranks: list[RankProcess] = []
        self._outcomes: dict[int, Outcome] = {}

    def start(self, jobs: list) -> None:
        for job in jobs:
            lines.create(self._folder / f"line.{job.rank}")
            os.mkfifo(self._folder / f"ask.{job.rank}")
            self._ranks.append(self._server.fork_rank())
        for job, process in zip(jobs, self._ranks, strict=True):
            with contextlib.suppress(BrokenPipeError):
                process.conn.send(job)

    def wait(self, deadline: float) -> list[Outcome]:
        """Watch until each rank has reported, died, or can be called hung."""
        watch = HangWatch(self._folder, self._source)
        with selectors.DefaultSelector() as selector:
            selector.register(self._server, selectors.EVENT_READ, ("server", -1))
            for rank, process in enumerate(self._ranks):
                selector.register(process.conn, selectors.EVENT_READ, ("report", rank))
                selector.register(process.capture, selectors.EVENT_READ, ("output", rank))
            while running := [r for r in range(len(self._ranks)) if r not in self._outcomes]:
                for key, _ in selector.select(watch.pause(deadline)):
                    what, rank = key.data
                    if what == "server":
                        self._server.note_exits()
                    elif what == "report":
                        selector.unregister(key.fileobj)
                        self._receive(rank)
                    elif not self._ranks[rank].capture.drain():
                        selector.unregister(key.fileobj)
                self._note_deaths()
                running = [r for r in running if r not in self._outcomes]
                pids = {rank: self._ranks[rank].pid for rank in running}
                hung = watch.look(pids, someone_ended=bool(self._outcomes), late=time.monotonic() > deadline)
                for rank, stack in hung.items():
                    self._outcomes[rank] = outcomes.Hung(
                        rank,
                        place=self._place(stack.place.line) if stack.place else None,
                        waits_in=stack.waits_in,
                    )
        return self._with_output()

    def end(self) -> list[str]:
        """End every process; returns the command lines of those that nobody expected."""
        for process in self._ranks:
            process.conn.close()
            process.capture.close()
        return self._server.clean()

    def _receive(self, rank: int) -> None:
        try:
            report = self._ranks[rank].conn.recv()
        except (EOFError, OSError):
            return  # it died; the server will say how
        self._outcomes[rank] = self._outcome(rank, report)

    def _outcome(self, rank: int, report: tuple) -> Outcome:
        kind, *rest = report
        if kind == "returned":
            pickled, line = rest
            return self._returned(rank, pickled, self._place(line))
        if kind == "not attempted":
            return outcomes.NotAttempted(rank, exercise=rest[0], message=rest[1])
        if kind == "exit":
            code, line = rest
            return outcomes.Died(rank, place=self._place(line), how=f"left by sys.exit({code!r})")
        kind, message, line, function, trace, importing = rest
        return outcomes.Raised(
            rank,
            place=self._place(line, function),
            type=kind,
            message=message,
            traceback=trace,
            importing=importing,
        )

    def _returned(self, rank: int, pickled: bytes, place: Place | None) -> Outcome:
        try:
            return outcomes.Returned(rank, place=place, value=pickle.loads(pickled))
        except Exception as error:
            message = f"the returned value is of a class of your own, use plain values: {error}"
            return outcomes.Raised(rank, place=place, type="TypeError", message=message)

    def _note_deaths(self) -> None:
        for rank, process in enumerate(self._ranks):
            if rank in self._outcomes or process.pid not in self._server.exits:
                continue
            with contextlib.suppress(EOFError, OSError):
                # It may have reported and then been killed.
                if process.conn.poll():
                    self._outcomes[rank] = self._outcome(rank, process.conn.recv())
                    continue
            how, number = _how_it_died(self._server.exits[process.pid])
            line, _ = lines.read(self._folder / f"line.{rank}")
            self._outcomes[rank] = outcomes.Died(rank, place=self._place(line), how=how, signal=number)

    def _place(self, line: int, function: str = "") -> Place | None:
        return Place(self._shown, line, function) if line else None

    def _with_output(self) -> list[Outcome]:
        from dataclasses import replace

        for process in self._ranks:
            process.capture.drain()
        return [
            replace(self._outcomes[rank], output=process.capture.text()) for rank, process in enumerate(self._ranks)
        ]


def _how_it_died(status: int) -> tuple[str, int | None]:
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        hint = {
            signal.SIGSEGV: "crashed in C++ (segmentation fault)",
            signal.SIGABRT: "was aborted in C++ (often a collective whose ranks disagree about sizes)",
            signal.SIGKILL: "was killed (SIGKILL; by the system if memory ran out)",
        }.get(number, f"was killed by {signal.Signals(number).name}")
        return hint, number
    return f"ended its process with exit code {os.WEXITSTATUS(status)} (os._exit?)", None
