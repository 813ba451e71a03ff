"""The public function: run something on N ranks and learn what happened."""

import socket

import pytest
import torch
import torch.distributed as dist

import ddp_grader
from ddp_grader import RanksFailed, run_ranks
from ddp_grader.ports import reserved_port


def total(start):
    x = torch.tensor([start + dist.get_rank()])
    dist.all_reduce(x)
    return {"sum": x, "grad": torch.ones(1, requires_grad=True) * 2}


@pytest.mark.parametrize("world_size", [1, 2, 4])
def test_values_come_back_in_rank_order(world_size):
    run = run_ranks(total, world_size, 10)
    expected = sum(10 + rank for rank in range(world_size))
    assert [value["sum"].item() for value in run.values] == [expected] * world_size


def test_lambda_and_closure():
    offset = 5
    assert run_ranks(lambda: offset + dist.get_rank(), 2).values == [5, 6]


def test_failure_is_told():
    def fail():
        raise KeyError("lr")

    with pytest.raises(RanksFailed, match="ranks 0 and 1 raised KeyError") as caught:
        _ = run_ranks(fail, 2).values
    assert caught.value.run.world_size == 2


def test_without_group_there_is_only_the_environment():
    def look():
        import os

        return dist.is_initialized(), os.environ["RANK"], os.environ["WORLD_SIZE"], "LOCAL_RANK" in os.environ

    run = run_ranks(look, 2, group=False, env=lambda rank: {"LOCAL_RANK": None})
    assert run.values == [(False, "0", "2", False), (False, "1", "2", False)]


def test_ranks_do_not_start_alike():
    first, second = run_ranks(lambda: torch.rand(1).item(), 2).values
    assert first != second


def test_runs_share_nothing():
    def leave_something():
        seen = hasattr(torch, "left_here")
        torch.left_here = True
        return seen

    assert run_ranks(leave_something, 2).values == [False, False]
    assert run_ranks(leave_something, 2).values == [False, False]


def test_two_reserved_ports_differ_and_are_free():
    with reserved_port() as first, reserved_port() as second:
        assert first != second
        with socket.socket() as probe:
            probe.bind(("", first))


def test_every_public_name_exists():
    for name in ddp_grader.__all__:
        assert getattr(ddp_grader, name)
