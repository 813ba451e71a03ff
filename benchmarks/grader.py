"""How long does it take to run a scenario on 2 ranks? Run with `make bench`.

The same scenario (all_reduce, DDP, backward) runs in four ways, side by side in one run, in alternating order:

- run_ranks: this project; fresh processes for each scenario, forked from a warm server.
- mp.spawn: fresh processes for each scenario, which import PyTorch anew.
- MultiProcessTestCase: PyTorch's own test case; fresh processes for each test.
- MultiProcContinuousTest: PyTorch's faster test case; one set of processes for all tests of a class, no isolation.

Prints medians and ratios; they hold for the machine that they were measured on, in that run.
"""

from __future__ import annotations

import logging
import os
import statistics
import subprocess
import sys
import time
import unittest
import warnings

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from rich.console import Console
from rich.table import Table
from torch.testing._internal.common_distributed import MultiProcContinuousTest, MultiProcessTestCase

from ddp_grader import run_ranks
from ddp_grader.client import warm_server

ROUNDS = 5
SUITE = 8  # scenarios in a suite, as many as lesson 04 has exercises


def scenario() -> float:
    """What is run on each rank: a collective, a DDP model, one backward."""
    x = torch.ones(8)
    dist.all_reduce(x)
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(8, 8))
    model(x).sum().backward()
    return x[0].item()


def with_group(rank: int, port: int) -> None:
    """The scenario with a process group of its own, as a spawned process runs it."""
    store = dist.TCPStore("127.0.0.1", port, 2, is_master=rank == 0)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=2)
    scenario()
    dist.destroy_process_group()


class FreshProcesses(MultiProcessTestCase):
    """One scenario as a test of PyTorch's MultiProcessTestCase."""

    @property
    def world_size(self) -> int:
        """Two ranks."""
        return 2

    def setUp(self) -> None:
        """Start the processes."""
        super().setUp()
        self._spawn_processes()

    def test_scenario(self) -> None:
        """Runs on each rank."""
        store = dist.FileStore(self.file_name, 2)
        dist.init_process_group("gloo", store=store, rank=self.rank, world_size=2)
        scenario()
        dist.destroy_process_group()


def _one_test(self: unittest.TestCase) -> None:
    scenario()


class SharedProcesses(MultiProcContinuousTest):
    """A suite of equal tests that share their processes."""

    world_size = 2

    @classmethod
    def backend_str(cls) -> str:
        """CPU."""
        return "gloo"

    @classmethod
    def device_type(cls) -> str:
        """CPU."""
        return "cpu"


for number in range(SUITE):
    setattr(SharedProcesses, f"test_{number}", _one_test)


def seconds(work) -> float:
    """How long `work()` takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def by_run_ranks() -> None:
    """One scenario by this project."""
    assert run_ranks(scenario, 2).values == [2.0, 2.0]


def by_spawn() -> None:
    """One scenario by mp.spawn."""
    from ddp_grader.ports import reserved_port

    with reserved_port() as port:
        mp.spawn(with_group, args=(port,), nprocs=2)


def by_test_case(case: type[unittest.TestCase]) -> None:
    """All tests of a PyTorch test case."""
    with open(os.devnull, "w") as silence:
        result = unittest.TextTestRunner(silence).run(unittest.defaultTestLoader.loadTestsFromTestCase(case))
    assert result.wasSuccessful() and result.testsRun, result.errors or result.failures


def shared_suite() -> None:
    """A suite by PyTorch's shared processes, their start included."""
    SharedProcesses._processes_spawned = False  # the class runs once in PyTorch's own use of it
    by_test_case(SharedProcesses)


def cold_suite() -> None:
    """A suite by this project, the server's start included."""
    warm_server().close()
    for _ in range(SUITE):
        by_run_ranks()


def grade_lesson() -> None:
    """What a learner types, from a cold start."""
    command = [sys.executable, "-m", "pytest", "lessons/04", "--submission", "solutions"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def import_dynamo() -> None:
    """The import that any process with a DDP model pays."""
    subprocess.run([sys.executable, "-c", "import torch._dynamo"], check=True)


def measure(ways: dict, rounds: int = ROUNDS) -> dict[str, float]:
    """Median seconds of each way, all ways in turn in each round, the order reversed every other round."""
    times: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(rounds):
        names = list(ways) if number % 2 == 0 else list(reversed(ways))
        for name in names:
            times[name].append(seconds(ways[name]))
    return {name: statistics.median(values) for name, values in times.items()}


def table(title: str, medians: dict[str, float]) -> Table:
    """Medians, and each as a multiple of the first."""
    first = next(iter(medians.values()))
    made = Table("", "median s", "ratio", title=title, title_justify="left")
    for name, value in medians.items():
        made.add_row(name, f"{value:.3f}", f"{value / first:.1f}")
    return made


def main() -> None:
    """Measure and print."""
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    mp.set_start_method("spawn", force=True)  # what PyTorch's test cases use: CUDA does not survive a fork
    console = Console()
    console.print(f"torch {torch.__version__}, {os.cpu_count()} cores, {ROUNDS} rounds")
    by_run_ranks()  # the server is warm from here on
    one = {
        "run_ranks (warm)": by_run_ranks,
        "mp.spawn": by_spawn,
        "MultiProcessTestCase": lambda: by_test_case(FreshProcesses),
    }
    console.print(table("one scenario on 2 ranks", measure(one)))
    suite = {
        "run_ranks (cold start included)": cold_suite,
        "MultiProcContinuousTest (start included)": shared_suite,
    }
    console.print(table(f"a suite of {SUITE} scenarios", measure(suite, 3)))
    lesson = {"import torch._dynamo": import_dynamo, "pytest lessons/04 --submission solutions": grade_lesson}
    console.print(table("a lesson, cold", measure(lesson, 3)))


if __name__ == "__main__":
    main()
