import os

import pytest
import torch
import torch.distributed as dist

from ddp_reference import errors, groups
from ddp_reference.errors import UserError
from ddp_reference.groups import process_group
from ddp_reference.main import main
from ddp_reference.ranks import Ranks, pick_device, read_ranks

CPU = torch.device("cpu")
NAMES = ("RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE")


@pytest.fixture
def environment(monkeypatch):
    """environment(RANK=1, ...) sets torchrun's variables, and no others of them."""

    def set_variables(**variables):
        for name in NAMES:
            monkeypatch.delenv(name, raising=False)
        for name, value in variables.items():
            monkeypatch.setenv(name, str(value))

    return set_variables


def test_no_launcher_means_one_process(environment):
    environment()
    assert read_ranks() == Ranks(0, 0, 1, 1, launched=False)


def test_torchrun_tells_all_four_numbers(environment):
    environment(RANK=5, LOCAL_RANK=1, WORLD_SIZE=8, LOCAL_WORLD_SIZE=4)
    assert read_ranks() == Ranks(5, 1, 8, 4, launched=True)


def test_half_an_environment_is_refused(environment):
    environment(RANK=1, WORLD_SIZE=2)
    with pytest.raises(UserError, match="LOCAL_RANK and LOCAL_WORLD_SIZE not set"):
        read_ranks()


@pytest.fixture
def gpus(monkeypatch):
    """gpus(n) pretends that this machine has n GPUs, and returns the list of those made current."""

    def pretend(count, kind="cuda"):
        current = []
        module = type("module", (), {"set_device": staticmethod(current.append)})
        device = torch.device(kind) if count else None
        monkeypatch.setattr(torch.accelerator, "current_accelerator", lambda: device)
        monkeypatch.setattr(torch.accelerator, "is_available", lambda: count > 0)
        monkeypatch.setattr(torch.accelerator, "device_count", lambda: count)
        monkeypatch.setattr(torch, "get_device_module", lambda device: module)
        return current

    return pretend


def test_the_local_rank_chooses_the_gpu(gpus):
    current = gpus(4)
    assert pick_device(Ranks(6, 2, 8, 4, True), "auto") == torch.device("cuda:2")
    assert current == [torch.device("cuda:2")]


@pytest.mark.parametrize(("count", "kind"), [(0, "cuda"), (1, "mps")])
def test_cpu_where_nothing_else_has_collectives(gpus, count, kind):
    gpus(count, kind)
    assert pick_device(Ranks(), "auto") == CPU


def test_cpu_if_wanted(gpus):
    current = gpus(1)
    assert pick_device(Ranks(1, 1, 2, 2, True), "cpu") == CPU
    assert current == []


@pytest.mark.parametrize(("count", "said"), [(1, "but 1 GPU: "), (2, "but 2 GPUs: ")])
def test_more_ranks_than_gpus(gpus, count, said):
    gpus(count)
    for rank in range(3):  # every rank refuses, not only the one without a GPU
        with pytest.raises(UserError, match=f"3 ranks on this node, {said}.*--device cpu"):
            pick_device(Ranks(rank, rank, 3, 3, True), "auto")


def group_threads():
    """Gloo's threads in this process; Linux tells their names."""
    names = []
    for task in os.listdir("/proc/self/task"):
        with open(f"/proc/self/task/{task}/comm") as file:
            names.append(file.read().strip())
    return [name for name in names if "gloo" in name]


def leave(options):
    """Train, and tell what of the group is left."""
    errors.SILENT_RANK_WAITS_S = 0  # there is no torchrun to end rank 1
    try:
        main(options)
        code = 0
    except SystemExit as leaving:
        code = leaving.code
    return code, dist.is_initialized(), group_threads()


@pytest.mark.skipif(not os.path.exists("/proc/self/task"), reason="needs Linux's /proc")
@pytest.mark.parametrize(
    ("options", "code"),
    [(["--epochs=1"], 0), (["--epochs=1", "--metrics=/dev/null/metrics.json"], 1)],
)
def test_nothing_is_left_of_the_group(run_ranks, options, code):
    """Threads that outlive the group could end the process with an abort."""
    assert run_ranks(leave, 2, options) == [(code, False, [])] * 2


def fail_together(failing_rank):
    with process_group(read_ranks(), CPU, 20) as world:
        try:
            world.raise_together(OSError("no disk") if world.rank == failing_rank else None)
        except UserError as error:
            return str(error)
        return None


@pytest.mark.parametrize("failing_rank", [0, 2, None])
def test_an_error_of_one_rank_is_raised_on_all(run_ranks, failing_rank):
    said = None if failing_rank is None else f"rank {failing_rank}: no disk"
    assert run_ranks(fail_together, 3, failing_rank) == [said] * 3


def test_timeout_and_device_reach_the_group(monkeypatch):
    asked = {}
    monkeypatch.setattr(dist, "init_process_group", lambda *a, **k: asked.update(k, backend=a[0]))
    monkeypatch.setattr(groups, "_destroy_group", lambda: None)
    gpu = torch.device("cuda:1")
    with process_group(Ranks(1, 1, 2, 2, True), gpu, 90) as world:
        assert (world.rank, world.size, world.backend) == (1, 2, "nccl")
    assert asked["backend"] == "nccl"
    assert asked["device_id"] == gpu
    assert asked["timeout"].total_seconds() == 90
    assert "store" not in asked  # torchrun's variables say where to meet
