"""Grader of lesson 01: which process am I, where do I compute, and the first collectives."""

import inspect
import math
import os
import re
import threading
import time
from operator import attrgetter

import torch
import torch.distributed as dist

from ddp_grader import caught, device, exercise

# ---- 1.1 ----------------------------------------------------------------------------------------

FIELDS = {
    "rank": "RANK",
    "local_rank": "LOCAL_RANK",
    "world_size": "WORLD_SIZE",
    "local_world_size": "LOCAL_WORLD_SIZE",
    "node_rank": "GROUP_RANK",
}
ALONE = (0, 0, 1, 1, 0)
# What the five variables say, in the order of FIELDS (None: not set), and what the situation is.
SITUATIONS = [
    ((3, 1, 4, 2, 1), "the second process of the second node (2 nodes with 2 processes each)"),
    ((0, 0, 4, 2, 0), "the first process of the first node (2 nodes with 2 processes each)"),
    ((4, 2, 5, 3, 1), "the last process of node 1, where node 0 has 2 processes and node 1 has 3"),
    (None, "a plain `python train.py` (none of the five variables set)"),
    ((4, 1, 9, 2, 1), "the second process of node 1, where the nodes have 3, 2 and 4 processes"),
    ((17, 1, 24, 8, 2), "the second process of node 2 (3 nodes with 8 processes each)"),
    ((0, 0, 1, 1, 0), "the only process of torchrun --nproc-per-node=1"),
]


def read_situations(lesson):
    """One report for each situation: the fields, the error, what changed in the environment."""
    return [_read_one(lesson, numbers) for numbers, _ in SITUATIONS]


def _read_one(lesson, numbers):
    for name, number in zip(FIELDS.values(), numbers or [None] * len(FIELDS), strict=True):
        os.environ.pop(name, None)
        if number is not None:
            os.environ[name] = str(number)
    before = dict(os.environ)
    box = []
    error = caught(lambda: box.append(lesson.read_rank_env()))
    if error and not isinstance(error, KeyError):
        raise error
    changed = [n for n in sorted({*before, *os.environ}) if before.get(n) != os.environ.get(n)]
    values = [getattr(box[0], field, None) for field in FIELDS] if box else []
    return {
        "error": str(error) if error else "",
        "class": type(box[0]).__name__ if box else "",
        # A str instead of an int would compare unequal anyway; the type makes the message clear.
        "fields": [value if isinstance(value, int) else f"{type(value).__name__} {value!r}" for value in values],
        "changed": changed,
    }


@exercise("1.1", "Read the environment", gpu=False)
def test_1_1_read_rank_env(grade):
    (reports,) = grade.run(read_situations, ranks=1, group=False).values
    for (numbers, situation), report in zip(SITUATIONS, reports, strict=True):
        grade.check(
            not report["error"],
            f"read_rank_env raised KeyError({report['error']}) in {situation}",
            cause="os.environ[name] raises KeyError where the variable is not set"
            if numbers is None
            else "torchrun sets no such variable",
            next_step="return RankInfo(0, 0, 1, 1, 0) there, e.g. by os.environ.get(name, default)"
            if numbers is None
            else f"read {', '.join(FIELDS.values())}",
        )
        for (field, variable), actual, expected in zip(FIELDS.items(), report["fields"], numbers or ALONE, strict=True):
            cause, next_step = _cause_1_1(field, variable, actual, numbers, report, reports)
            grade.equal(
                actual,
                expected,
                what=f"the field {field} in {situation}",
                cause=cause,
                next_step=next_step,
            )
        grade.equal(
            report["changed"],
            [],
            what=f"the variables that read_rank_env changed in os.environ, in {situation}",
            cause="it writes its defaults back, so that later code believes in a launcher",
            next_step="only read: os.environ.get(name, default), no setdefault, no assignment",
        )


def _cause_1_1(field, variable, actual, numbers, report, reports):
    if "NoneType" in str(actual):
        return (
            f"the returned {report['class']} has no such field, or it is None",
            "return a RankInfo with all five fields set",
        )
    if str(actual).startswith("str "):
        return "the values of os.environ are strings", f'convert it: int(os.environ["{variable}"])'
    if all(other["fields"] == reports[0]["fields"] for other in reports):
        return (
            "the environment is read once (at import, or cached) instead of at each call",
            "read os.environ inside the function",
        )
    if numbers is None:
        return (
            "this default is wrong: a single process has rank 0 in a world of size 1",
            f'the default of "{variable}" is {1 if "size" in field else 0}',
        )
    if field == "node_rank" and actual == 0:
        return "torchrun sets no variable NODE_RANK, so a default was used", "read GROUP_RANK"
    return (
        f"{field} is computed from other variables, or read from the wrong one",
        f"read it from {variable}: nodes may run different numbers of processes",
    )


# ---- 1.2 ----------------------------------------------------------------------------------------

PLACES = [(node, local, nproc) for nproc in (4, 1, 2, 3, 8) for node in (0, 1, 2, 5) for local in range(nproc)]


def convert_all(lesson):
    """(rank, location) for each place; numbers with their type where they are not ints."""
    return [
        (
            _plain(lesson.global_rank(node, local, nproc)),
            _plain(lesson.locate(node * nproc + local, nproc)),
        )
        for node, local, nproc in PLACES
    ]


def _plain(value):
    if isinstance(value, (tuple, list)):
        return tuple(_plain(part) for part in value)
    return int(value) if hasattr(value, "__index__") else f"{type(value).__name__} {value!r}"


@exercise("1.2", "Global and local ranks", gpu=False)
def test_1_2_global_and_local_rank(grade):
    (results,) = grade.run(convert_all, ranks=1, group=False).values
    for (node, local, nproc), (rank, _) in zip(PLACES, results, strict=True):
        expected = node * nproc + local
        grade.equal(
            rank,
            expected,
            what=f"global_rank(node_rank={node}, local_rank={local}, nproc_per_node={nproc})",
            cause="ranks count through node 0 first, then through node 1: the two are exchanged"
            if rank == local * nproc + node
            else f"{node} nodes with {nproc} ranks each come before this node, "
            f"and {local} processes of this node before this one",
            next_step="draw the table of nodes and local ranks for this nproc_per_node",
        )
    for (node, local, nproc), (_, place) in zip(PLACES, results, strict=True):
        rank = node * nproc + local
        grade.equal(
            place,
            (node, local),
            what=f"locate(rank={rank}, nproc_per_node={nproc})",
            cause=_cause_locate(place, node, local),
            next_step="rank // nproc_per_node is the node, rank % nproc_per_node the local rank",
        )


def _cause_locate(place, node, local):
    if place == (local, node):
        return "the two numbers are swapped: the node comes first"
    if "float" in str(place):
        return "/ makes a float, ranks are ints"
    return "node and local rank are quotient and remainder of the rank by nproc_per_node"


# ---- 1.3 ----------------------------------------------------------------------------------------

# (GPUs of the machine, was PyTorch built for CUDA, local rank)
MACHINES = [
    (4, True, 0),
    (4, True, 3),
    (4, True, 1),
    (1, True, 0),
    (8, True, 7),
    (0, True, 0),
    (0, True, 3),
    (0, False, 1),
    (2, True, 2),
    (1, True, 1),
    (4, True, 6),
]
OTHER_RANKS_ENV = {"RANK": "13", "LOCAL_RANK": "2", "WORLD_SIZE": "16", "LOCAL_WORLD_SIZE": "8"}


def pick_devices(lesson):
    """One report for each machine, as if this were that machine."""
    return [_pick_one(lesson, *machine) for machine in MACHINES]


def _pick_one(lesson, gpus, built_for_cuda, local_rank):
    _pretend(lesson, gpus, built_for_cuda)
    box = []
    error = caught(lambda: box.append(lesson.pick_device(local_rank)))
    if isinstance(error, (NameError, AttributeError, TypeError, KeyError)):
        raise error  # not meant: the line is more useful than this machine
    return {
        "error": f"{type(error).__name__}: {error}" if error else "",
        "class": type(box[0]).__name__ if box else "",
        "device": str(box[0]) if box else "",
    }


def pick_backends(lesson):
    """(device, backend) for several devices, on machines with and without GPUs."""
    found = []
    for gpus in (8, 0):
        _pretend(lesson, gpus, built_for_cuda=True)
        for name in ("cpu", "cuda:1", "cuda"):
            found.append((gpus, name, str(lesson.pick_backend(torch.device(name)))))
    return found


def _pretend(lesson, gpus, built_for_cuda):
    """Let this process believe that its machine has this number of GPUs."""
    cuda = torch.device("cuda") if built_for_cuda else None

    def current_accelerator(check_available=False):
        return None if check_available and gpus == 0 else cuda

    # By name: cloudpickle cannot take torch.backends along.
    fakes = {
        "cuda.device_count": lambda: gpus,
        "cuda.is_available": lambda: gpus > 0,
        "cuda.set_device": lambda device: None,
        "accelerator.device_count": lambda: gpus,
        "accelerator.is_available": lambda: gpus > 0,
        "accelerator.current_accelerator": current_accelerator,
        "accelerator.set_device_index": lambda device: None,
        "backends.mps.is_available": lambda: False,
        "xpu.is_available": lambda: False,
        "xpu.device_count": lambda: 0,
        "distributed.is_nccl_available": lambda: built_for_cuda,
    }
    for path, fake in fakes.items():
        module, name = path.rsplit(".", 1)
        module = attrgetter(module)(torch)
        real = getattr(module, name, fake)  # set_device_index came after torch 2.6
        setattr(module, name, fake)
        for key, value in list(vars(lesson).items()):
            if value is real:  # `from torch.cuda import device_count`
                setattr(lesson, key, fake)


@exercise("1.3", "Device and backend", gpu=False)
def test_1_3_device_and_backend(grade):
    (reports,) = grade.run(
        pick_devices, ranks=1, group=False, env={**OTHER_RANKS_ENV, "CUDA_VISIBLE_DEVICES": None}
    ).values
    for (gpus, built, local_rank), report in zip(MACHINES, reports, strict=True):
        _check_device(grade, gpus, built, local_rank, report)
    (backends,) = grade.run(pick_backends, ranks=1, group=False).values
    for gpus, name, backend in backends:
        grade.equal(
            backend.lower(),
            "gloo" if name == "cpu" else "nccl",
            what=f'pick_backend(torch.device("{name}")) on a machine with {gpus} GPUs',
            cause="the backend was chosen by what PyTorch was built with or what the machine has, not by the device",
            next_step="look at device.type only",
        )


def _check_device(grade, gpus, built, local_rank, report):
    machine = f"a machine with {gpus} GPU{'' if gpus == 1 else 's'}"
    if not built:
        machine += ", PyTorch built without CUDA"
    call = f"pick_device({local_rank}) on {machine}"
    if gpus and local_rank >= gpus:
        grade.check(
            bool(report["error"]),
            f"{call} returned {report['device']}, it should raise RuntimeError",
            cause=_cause_no_error(gpus, report),
            next_step="compare local_rank with torch.cuda.device_count(), raise if it is too high",
        )
        numbers = re.findall(r"\d+", report["error"])
        grade.check(
            str(local_rank) in numbers or str(gpus) in numbers,
            f"{call} raised {report['error']!r}, a message without the numbers that explain it",
            cause="the error comes from somewhere deeper, or says too little",
            next_step="raise RuntimeError with the local rank and the number of GPUs in the text",
        )
        return
    grade.check(
        not report["error"],
        f"{call} raised {report['error']}",
        cause="the number of GPUs is compared with something else than local_rank"
        if gpus
        else "without GPUs the device is the CPU, for every local rank",
        next_step=f"return {_wanted(gpus, local_rank)!r} there",
    )
    grade.equal(
        report["class"],
        "device",
        what=f"the class of what {call} returned",
        cause="a string or number was returned",
        next_step="return a torch.device",
    )
    wanted = _wanted(gpus, local_rank)
    actual = "cpu" if report["device"].startswith("cpu") else report["device"]
    grade.equal(
        actual,
        str(wanted),
        what=f"{call} (environment: RANK=13, LOCAL_RANK=2)",
        cause=_cause_device(gpus, local_rank, report),
        next_step="use torch.device('cuda', local_rank) with the argument local_rank"
        if gpus
        else "ask torch.cuda.device_count() or torch.accelerator.is_available(), and take the CPU",
    )


def _cause_no_error(gpus, report):
    if report["device"].startswith("cpu"):
        return "this rank would quietly train on the CPU, and all others would wait for it"
    if _index(report) in range(gpus):
        return "two processes would share one GPU"
    return "this GPU does not exist: GPUs are numbered from 0"


def _wanted(gpus, local_rank):
    return torch.device("cuda", local_rank) if gpus else torch.device("cpu")


def _index(report):
    match = re.search(r":(\d+)", report["device"])
    return int(match.group(1)) if match else None


def _cause_device(gpus, local_rank, report):
    if not gpus:
        return "this asked what PyTorch was built for, not what the machine has"
    if report["device"].startswith("cpu"):
        return "the GPU was not noticed" if gpus > 1 else "a single GPU counts, too"
    index = _index(report)
    if index is None:
        return "without a number, 'cuda' means the current device, GPU 0 on every rank"
    if index in (13, 13 % gpus):
        return "the GPU was chosen by the global rank (RANK), which is not local_rank on node 1"
    if index in (2, 2 % gpus):
        return "the GPU was chosen by the variable LOCAL_RANK, not by the argument"
    return "the GPU's number is not local_rank"


# ---- 1.4 ----------------------------------------------------------------------------------------


class HTTPError(Exception):
    """Like urllib's: it holds the open connection, so it cannot be sent to another process."""

    def __reduce__(self):
        raise TypeError("cannot pickle '_io.BufferedReader' object")


def take_turns(lesson):
    """fn returns a text, then None."""
    rank = dist.get_rank()
    reports = []
    dist.barrier()  # start together: a rank that does not wait shall be seen
    for value in (f"made by rank {rank}", None):
        calls = []

        def fn(value=value, calls=calls):
            started = time.monotonic()
            if rank == 0:
                time.sleep(0.06)
            calls.append((started, time.monotonic()))
            return value

        result = lesson.rank_zero_first(fn)
        reports.append({"calls": calls, "value": repr(value), "result": repr(result)})
    return reports


def take_turns_failing(lesson, steps):
    """Each step says which rank's fn raises (None: no rank's), and what."""
    rank = dist.get_rank()
    value = threading.Lock()  # what fn returns: it cannot be pickled
    reports = []
    for failing_rank, kind in steps:
        calls = []

        def fn(failing_rank=failing_rank, kind=kind, calls=calls):
            calls.append(1)
            if rank == (dist.get_world_size() - 1 if failing_rank == "last" else failing_rank):
                error = HTTPError("404 Not Found") if kind == "no pickle" else OSError("disk full")
                print(f"(grader) fn raises {error!r} on this rank")  # told if ranks hang
                raise error
            return value

        box = []
        error = caught(lambda fn=fn, box=box: box.append(lesson.rank_zero_first(fn)))
        if isinstance(error, (NameError, AttributeError)):
            raise error
        if error:
            print(f"(grader) rank_zero_first raised {type(error).__name__}: {error}")
        reports.append(
            {
                "calls": len(calls),
                "result": repr(box[0]) if box else "",
                "own": bool(box) and box[0] is value,
                "error": f"{type(error).__name__}: {error}" if error else "",
            }
        )
    return reports


@exercise("1.4", "Rank 0 goes first")
def test_1_4_rank_zero_first(grade):
    run = grade.run(take_turns, ranks=3)
    for turn, what in enumerate(["a text", "None"]):
        _check_turn(grade, [reports[turn] for reports in run.values], what)

    run = grade.run(take_turns_failing, [(0, "error")], ranks=3)
    _check_failure(grade, run, "an OSError", "disk full")

    steps = [(0, "no pickle"), (None, "")]
    run = grade.run(take_turns_failing, steps, ranks=3)
    _check_failure(grade, run, "an exception that cannot be pickled", "404 Not Found")
    for rank, reports in enumerate(run.values):
        _check_retry(grade, rank, reports[1])

    run = grade.run(take_turns_failing, [("last", "error")], ranks=3)
    _check_failing_follower(grade, run)


def _check_turn(grade, reports, what):
    for rank, report in enumerate(reports):
        grade.equal(
            len(report["calls"]),
            1,
            rank=rank,
            what="how often fn ran",
            cause=_cause_calls(rank, len(report["calls"])),
            next_step="call fn once a rank: on rank 0 before the collective, elsewhere after it",
        )
    end = reports[0]["calls"][0][1]
    for rank, report in enumerate(reports[1:], start=1):
        early = end - report["calls"][0][0]
        grade.check(
            early <= 0,
            f"fn started {early * 1000:.0f} ms before it had returned on rank 0",
            rank=rank,
            cause="this rank does not wait before fn, or rank 0 is in the collective too early",
            next_step="on rank 0: fn, then the collective. On the others: the collective, then fn",
        )
    for rank, report in enumerate(reports):
        grade.check(
            report["result"] == report["value"],
            f"rank_zero_first returned {report['result']}, but fn had returned {report['value']} "
            f"on this rank (fn returns {what})",
            rank=rank,
            cause="the return value of fn was lost" if report["result"] == "None" else "this is another rank's value",
            next_step="return what fn returned on this very rank",
        )


def _check_retry(grade, rank, report):
    grade.check(
        not report["error"],
        f"fn failed on rank 0, then rank_zero_first was called once more, with a fn that returns "
        f"a threading.Lock(). This second try raised {report['error']}",
        rank=rank,
        cause="fn's return value was sent, and not every object can be pickled"
        if "pickle" in report["error"]
        else "something is left over from the failure",
        next_step="do not send fn's return value"
        if "pickle" in report["error"]
        else "in a failure, too, let all ranks make the same collectives, and keep the group",
    )
    grade.check(
        report["own"],
        f"rank_zero_first returned {report['result']}, not the object that fn returned",
        rank=rank,
        cause="the return value of fn was lost or replaced",
        next_step="return what fn returned on this very rank",
    )


def _cause_calls(rank, calls):
    if calls == 0:
        return "only some ranks call it, for example only rank 0, whose value is then sent to all"
    return "rank 0 goes first, and then once more together with the others" if rank == 0 else ""


def _check_failure(grade, run, kind, text):
    for rank, (report, *_) in enumerate(run.values):
        grade.check(
            bool(report["error"]),
            f"fn raised {kind} on rank 0, but rank_zero_first returned normally on this rank",
            rank=rank,
            cause="the exception was swallowed" if rank == 0 else "nobody told this rank",
            next_step="send word of the failure in the collective, and raise on every rank",
        )
        if rank == 0:
            grade.check(
                text in report["error"],
                f"fn raised {kind} ({text!r}), but rank_zero_first raised {report['error']!r}",
                rank=0,
                cause="the exception itself was sent, and not every exception can be pickled"
                if "pickle" in report["error"]
                else "the reason of the failure got lost: it was replaced by another error",
                next_step="keep the exception, send its text (str or repr), then raise it",
            )
        else:
            grade.equal(
                report["calls"],
                0,
                rank=rank,
                what="how often fn ran on this rank after it had failed on rank 0",
                cause="this rank learned of the failure too late, or raised something else",
                next_step="look at rank 0's message before you call fn",
            )


def _check_failing_follower(grade, run):
    if run.world_size == 1:
        return
    rank = run.world_size - 1
    report = run.values[rank][0]
    grade.check(
        "disk full" in report["error"],
        f"fn raised OSError('disk full') on rank {rank}, but rank_zero_first "
        + (f"raised {report['error']}" if report["error"] else "returned normally"),
        rank=rank,
        cause="the exception was swallowed or replaced",
        next_step="let an exception of fn through on the other ranks",
    )


# ---- 1.5 ----------------------------------------------------------------------------------------


def value_of(case, rank, world_size):
    """What a rank contributes in this case."""
    return {
        "small ints": rank + 1,
        "floats": 0.1 * (rank + 1),
        "token counts": 16_777_217 + 2 * rank,
        "float counts": 16_777_217.0 + 2 * rank,
        "huge counts": 10**14 + rank,
        "negative numbers": -1.5 - rank,
        "a value on the last rank only": 7.25 if rank == world_size - 1 else 0.0,
        "zeros": 0,
        # One rank had no batch: its sum is still the int 0.
        "an int on rank 0, floats elsewhere": 0 if rank == 0 else rank + 0.5,
    }[case]


CASES = [
    "small ints",
    "floats",
    "negative numbers",
    "a value on the last rank only",
    "zeros",
    "float counts",
    "token counts",
    "huge counts",
]
MIXED = ["small ints", "an int on rank 0, floats elsewhere"]


def add_up(lesson, cases):
    """(class, value) of each case's sum."""
    rank, world_size = dist.get_rank(), dist.get_world_size()
    results = []
    for case in cases:
        result = _sum_over_ranks(lesson, value_of(case, rank, world_size))
        is_float = isinstance(result, float)
        results.append((type(result).__name__, float(result) if is_float else repr(result)))
    return results


def _sum_over_ranks(lesson, value):
    # On the CPU the default must do. On a GPU, a version without the argument finds it itself.
    takes_device = "device" in inspect.signature(lesson.sum_over_ranks).parameters
    if device().type != "cpu" and takes_device:
        return lesson.sum_over_ranks(value, device=device())
    return lesson.sum_over_ranks(value)


@exercise("1.5", "Sum over ranks")
def test_1_5_sum_over_ranks(grade):
    _check_sums(grade, CASES, ranks=3)
    _check_sums(grade, MIXED, ranks=4)


def _check_sums(grade, cases, ranks):
    run = grade.run(add_up, cases, ranks=ranks)
    size = run.world_size
    for number, case in enumerate(cases):
        values = [value_of(case, rank, size) for rank in range(size)]
        for rank, results in enumerate(run.values):
            kind, total = results[number]
            grade.check(
                isinstance(total, float),
                f"sum_over_ranks returned {total} of class {kind}, not a Python float",
                rank=rank,
                cause="the tensor was returned" if kind == "Tensor" else "",
                next_step="turn the summed tensor into a number with .item()",
            )
            grade.close(
                total,
                math.fsum(values),
                rtol=1e-13,
                atol=0.0,
                rank=rank,
                what=f"the sum over {size} ranks ({case}: {', '.join(map(str, values))})",
                cause=_cause_sum([results[number][1] for results in run.values], values, rank),
                next_step="put the value into a float64 tensor on every rank, all_reduce it once, return .item()",
            )


def _cause_sum(totals, values, rank):
    total, exact, size = totals[rank], math.fsum(values), len(values)
    if any(type(value) is not type(values[0]) for value in values):
        return "ranks sent different dtypes: torch.tensor(0) is int64, torch.tensor(0.5) is float32"
    if any(math.isclose(other, exact) for other in totals if isinstance(other, float)):
        return "some ranks have the right sum, others not (dist.reduce, for example, serves one rank only)"
    if total == values[rank]:
        return "this is the rank's own value: nothing came from the other ranks"
    if math.isclose(total, exact / size, rel_tol=1e-6):
        return "this is the mean, not the sum"
    if total == sum(int(value) for value in values):
        return "the fractions were cut off, by an integer tensor or int()"
    if math.isclose(total, exact, rel_tol=1e-6):
        return "float32 was used: it holds 7 digits, float64 holds 15"
    if math.isclose(total, exact * size, rel_tol=1e-6):
        return "it was summed twice"
    return "not every rank's value is in it exactly once"
