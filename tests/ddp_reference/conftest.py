"""Runs a test's function on several real processes."""

import multiprocessing
import os
import sys
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import cloudpickle
import pytest
import torch.distributed as dist

ROOT = Path(__file__).parents[2]
DEADLINE_S = 120  # only reached if something hangs


class Unpickled:
    """Pickles as the object itself, by value: test files are no modules that a rank could import.

    As plain bytes, too. Left to itself, torch would put tensors into memory that ranks share.
    """

    def __init__(self, value: Any) -> None:
        self.value = value

    def __call__(self) -> None:
        """Never called. multiprocessing wants its target to look like a function."""

    def __reduce__(self):
        return cloudpickle.loads, (cloudpickle.dumps(self.value),)


def _run(function: Callable, args: tuple, environment: dict[str, str], results: Connection):
    os.environ.update(environment)
    try:
        outcome = (True, function(*args))
    except BaseException as error:
        outcome = (False, f"{type(error).__name__}: {error}\n{traceback.format_exc()}")
    results.send_bytes(cloudpickle.dumps(outcome))


@pytest.fixture(scope="session")
def run_ranks():
    """run_ranks(function, world_size, *args) -> what each rank returned, in rank order.

    The processes get torchrun's environment variables and no process group. A rank that raises
    fails the test, with its traceback.
    """
    context = multiprocessing.get_context("forkserver")
    # Once for all tests: torch, and what DDP imports when the first model is wrapped.
    context.set_forkserver_preload(["torch._dynamo", "sklearn.datasets", "ddp_reference.main"])

    def run(function: Callable, world_size: int, *args: Any) -> list[Any]:
        for name in (function.__module__, __name__):
            cloudpickle.register_pickle_by_value(sys.modules[name])
        # The parent holds the store, as torchrun does, so that no two tests share a port.
        store = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
        readers, processes = [], []
        for rank in range(world_size):
            environment = {
                "RANK": str(rank),
                "LOCAL_RANK": str(rank),
                "WORLD_SIZE": str(world_size),
                "LOCAL_WORLD_SIZE": str(world_size),
                "MASTER_ADDR": "127.0.0.1",
                "MASTER_PORT": str(store.port),
                "TORCHELASTIC_USE_AGENT_STORE": "True",
                "OMP_NUM_THREADS": "1",
            }
            reader, writer = context.Pipe(duplex=False)
            process = context.Process(
                target=Unpickled(_run),
                args=(Unpickled(function), Unpickled(args), environment, writer),
            )
            process.start()
            writer.close()
            readers.append(reader)
            processes.append(process)
        try:
            results = [_receive(reader, rank) for rank, reader in enumerate(readers)]
        finally:
            for process in processes:
                process.join(DEADLINE_S)
                process.kill()
        failures = [f"rank {r} raised {value}" for r, (ok, value) in enumerate(results) if not ok]
        assert not failures, "\n".join(failures)
        return [value for _, value in results]

    return run


def _receive(reader: Connection, rank: int) -> tuple[bool, Any]:
    if not reader.poll(DEADLINE_S):
        return False, "nothing: it hangs"
    try:
        return cloudpickle.loads(reader.recv_bytes())
    except EOFError:
        return False, "nothing: it died"
