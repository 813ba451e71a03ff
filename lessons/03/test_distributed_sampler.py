"""Grader of lesson 03: which samples belong to which rank, in training, in evaluation and after an interruption."""

import itertools
import math
import os
import random
import traceback
import warnings
from functools import partial

import numpy as np
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, Dataset, DistributedSampler, SequentialSampler, get_worker_info

from ddp_grader import caught, exercise

# ---- helpers ------------------------------------------------------------------------------------


def torch_shard(n, world_size, rank, shuffle=True, seed=0, epoch=0, drop_last=False):
    """What DistributedSampler gives."""
    sampler = DistributedSampler(range(n), world_size, rank, shuffle=shuffle, seed=seed, drop_last=drop_last)
    sampler.set_epoch(epoch)
    return list(sampler)


def epoch_order(n, shuffle, seed, epoch):
    """The order of all samples in an epoch."""
    return torch_shard(n, 1, 0, shuffle, seed, epoch)


def plain(value, depth=6):
    """A value with its types made visible: ints and lists stay, anything else becomes a string."""
    if isinstance(value, torch.Tensor):
        return plain(value.tolist(), depth)
    if isinstance(value, np.ndarray):
        return plain(value.tolist(), depth)
    if isinstance(value, (list, tuple)) and depth:
        return [plain(part, depth - 1) for part in value]
    if isinstance(value, bool) or value is None:
        return str(value)
    return int(value) if hasattr(value, "__index__") else f"{type(value).__name__} {value!r}"


def tried(fn, *args, **kwargs):
    """(value or None, "ErrorType: message (line N)" or ''). An unwritten exercise or a wrong name goes through."""
    box = []
    error = caught(lambda: box.append(fn(*args, **kwargs)))
    if error is None:
        return box[0], ""
    if isinstance(error, NameError) or type(error).__name__ == "MissingName":
        raise error
    own = [f for f in traceback.extract_tb(error.__traceback__) if f.filename.endswith("distributed_sampler.py")]
    own = [f for f in own if not f.filename.endswith("test_distributed_sampler.py")]
    name = "ValueError" if isinstance(error, ValueError) else type(error).__name__  # a subclass is one, too
    return None, f"{name}: {error}" + (f" (line {own[-1].lineno} of your file)" if own else "")


def last_line(error):
    """The last line of an error, which in an error of a DataLoader's worker is the cause."""
    lines = [line for line in error.splitlines() if line.strip(" ^~")]
    return lines[-1] if lines else error


# ---- 3.1 ----------------------------------------------------------------------------------------

RUNS = [(0, 0), (0, 1), (5, 0), (3, 4), (0, 7), (1, 2)]  # (seed, epoch)


def cases_3_1():
    """(n, world_size, rank, options): from simple to hard, so that the first wrong one tells the most."""
    cases = []
    for flags, (shuffle, drop_last) in enumerate([(False, False), (False, True), (True, False), (True, True)]):
        for world_size in (2, 3, 4, 1, 5, 8):
            # Few samples last: a shuffle of two may well be no shuffle.
            sizes = [n for n in range(1, 41) if n < 12 or n % 3 == (flags + world_size) % 3]
            sizes.sort(key=lambda n: (n < world_size, n < 10, n % world_size != 0, n))
            for number, n in enumerate(sizes):
                seed, epoch = RUNS[number % len(RUNS)]
                options = {"shuffle": shuffle, "seed": seed, "epoch": epoch, "drop_last": drop_last}
                ranks = range(world_size) if number % 5 == 0 else {world_size - 1, number % world_size}
                cases += [(n, world_size, rank, options) for rank in sorted(ranks)]
    return cases


BAD_3_1 = [(0, 1, 0), (0, 4, 2), (10, 4, 4), (10, 4, -1), (3, 8, 9)]


def shard_all(lesson):
    state = torch.random.get_rng_state()
    found = []
    for n, world_size, rank, options in cases_3_1():
        value, error = tried(lesson.shard_indices, n, world_size, rank, **options)
        found.append((type(value).__name__, plain(value), error))
        if error:
            break  # the rest would only cost time
    disturbed = not torch.equal(state, torch.random.get_rng_state())
    bad = [tried(lesson.shard_indices, *numbers) for numbers in BAD_3_1]
    defaults = plain(tried(lesson.shard_indices, 11, 3, 1)[0])
    return found, disturbed, [(plain(value), error) for value, error in bad], defaults


@exercise("3.1", "The indices of one rank", gpu=False)
def test_3_1_shard_indices(grade):
    ((found, disturbed, bad, defaults),) = grade.run(shard_all, ranks=1, group=False).values
    results = {}
    for (n, world_size, rank, options), (kind, actual, error) in zip(cases_3_1(), found, strict=False):
        call = f"shard_indices({n}, {world_size}, {rank}, {_told(options)})"
        expected = torch_shard(n, world_size, rank, **options)
        results[n, world_size, rank, tuple(options.values())] = actual
        if error:
            small = n < world_size
            grade.fail(
                f"{call} raised {last_line(error)}",
                cause="n is smaller than world_size here: repeating the order once is not enough, or nothing is left"
                if small
                else "an error that this call does not ask for",
                next_step="repeat the order as often as needed: (order * times)[:total]"
                if small and not options["drop_last"]
                else "run this call in a Python shell: the arguments are all in the message",
            )
        cause, next_step = _cause_3_1(n, world_size, rank, options, kind, actual, expected, results)
        grade.equal(actual, expected, what=call, cause=cause, next_step=next_step)
        grade.check(
            kind == "list",
            f"{call} returned an object of class {kind}, expected a list of ints",
            cause="a slice of a tensor or of a range is no list",
            next_step="return a list: .tolist() for a tensor, list(...) for a range",
        )
    grade.equal(
        defaults,
        torch_shard(11, 3, 1),
        what="shard_indices(11, 3, 1), without options,",
        cause="the defaults in the signature were changed",
        next_step="put shuffle=True, seed=0, epoch=0, drop_last=False back",
    )
    grade.check(
        not disturbed,
        "after shard_indices, torch's global generator is in another state than before",
        cause="it draws from the global generator, or calls torch.manual_seed: what is drawn later, for dropout or "
        "augmentation, would depend on the shuffle and be the same on all ranks",
        next_step="torch.randperm(n, generator=torch.Generator().manual_seed(seed + epoch))",
    )
    for (n, world_size, rank), (value, error) in zip(BAD_3_1, bad, strict=True):
        _check_value_error(grade, f"shard_indices({n}, {world_size}, {rank})", value, error, n, rank)


def _check_value_error(grade, call, value, error, n, rank):
    wrong = f"n is {n}" if n < 1 else f"there is no rank {rank}"
    grade.check(
        error.startswith("ValueError"),
        f"{call} {f'raised {last_line(error)}' if error else f'returned {value}'}, expected a ValueError",
        cause=f"{wrong}, and this should be said at once: a rank that trains on nothing, or on another rank's "
        "samples, raises no error later",
        next_step="raise ValueError with a message at the top of the function "
        "(`assert` raises another error, and none under python -O)",
    )


def _told(options):
    return ", ".join(f"{name}={value}" for name, value in options.items())


def _cause_3_1(n, world_size, rank, options, kind, actual, expected, results):
    """(cause, next step) for a wrong list."""
    shuffle, seed, epoch, drop_last = options.values()
    if not isinstance(actual, list):
        return "the function must return a list", "return order[rank::world_size], made from a list"
    if any(not isinstance(index, int) for index in actual):
        return "there are elements that are no ints", "use .tolist() on the permutation"
    order = epoch_order(n, shuffle, seed, epoch)
    padded = list(itertools.islice(itertools.cycle(order), math.ceil(n / world_size) * world_size))
    dealt = n // world_size * world_size if drop_last else len(padded)
    total, per_rank = padded[:dealt], dealt // world_size
    if actual == total[rank * per_rank : (rank + 1) * per_rank] and per_rank > 1:
        return (
            "the order was cut into blocks, one for each rank",
            "ranks take turns: every world_size-th index, order[rank::world_size]",
        )
    for step in range(1, 9):
        if step != world_size and len(actual) > 1 and actual == total[rank::step]:
            return f"it takes every index from number {rank} on in steps of {step}", "order[rank::world_size]"
    if len(actual) != len(expected):
        return _cause_length(n, world_size, rank, drop_last, order, actual, expected)
    if not shuffle and not drop_last and actual[:-1] == expected[:-1]:
        return (
            f"the order must be continued from its beginning, with {padded[n : n + 3]}, but the last index differs",
            "add order[:missing], and for more than n missing ones repeat the whole order",
        )
    if shuffle:
        return _cause_shuffle(n, world_size, rank, options, actual, expected)
    return (
        "these are other indices than DistributedSampler's",
        "pad or drop first, then take order[rank::world_size]",
    )


def _cause_length(n, world_size, rank, drop_last, order, actual, expected):
    if n < world_size and not drop_last:
        return (
            f"n is smaller than world_size: {-n % world_size} indices must be added to {n}, so the order must be "
            "repeated, more than once if needed",
            "(order * times)[:total], with times large enough",
        )
    if drop_last and actual == order[rank::world_size]:
        return "nothing was left out, so the ranks have unequal lengths", "cut the order to n - n % world_size first"
    if drop_last and len(actual) > len(expected):
        return (
            "with drop_last, the order is cut to a multiple of world_size before it is dealt, not padded",
            "order[: n - n % world_size], then deal",
        )
    if actual == order[rank::world_size]:
        return (
            f"nothing was added: the other ranks have {len(expected)}, and in training they would wait for this one",
            "continue the order until its length can be divided by world_size",
        )
    if len(actual) > len(expected) and not n % world_size:
        return "n can be divided by world_size, so nothing may be added", "the number to add is -n % world_size"
    return (
        f"every rank must have {len(expected)} indices here",
        "make the whole order divisible by world_size before you deal it",
    )


def _cause_shuffle(n, world_size, rank, options, actual, expected):
    shuffle, seed, epoch, drop_last = options.values()

    def sharded(seed, epoch):
        return torch_shard(n, world_size, rank, True, seed, epoch, drop_last)

    unshuffled = torch_shard(n, world_size, rank, False, 0, 0, drop_last)
    if actual == unshuffled and len(actual) > 3:
        return "it was not shuffled", "with shuffle=True the order is a permutation: torch.randperm"
    if epoch and actual == sharded(seed, 0):
        return "the epoch has no effect: every epoch has the order of epoch 0", "seed the generator with seed + epoch"
    if seed and actual == sharded(0, epoch):
        return "the seed has no effect", "seed the generator with seed + epoch"
    if rank and actual == sharded(seed + rank, epoch):
        return (
            "the rank goes into the seed, so each rank shuffles another deck: some samples come twice, others never",
            "all ranks must draw the same permutation: seed + epoch",
        )
    if sorted(actual) == sorted(unshuffled) and len(actual) > 1:
        return (
            "each rank shuffles its own, fixed part of the samples: a rank would see the same samples in all epochs",
            "shuffle the whole order first, then deal it",
        )
    if rank and len(actual) > 1:
        return (
            "this is another permutation than DistributedSampler's, or it differs from rank to rank",
            "torch.randperm(n, generator=torch.Generator().manual_seed(seed + epoch)), on all ranks alike",
        )
    return (
        "this is another permutation than DistributedSampler's",
        "torch.randperm(n, generator=torch.Generator().manual_seed(seed + epoch)), on all ranks alike",
    )


# ---- 3.2 ----------------------------------------------------------------------------------------

FIRST = 100  # sample i of the data set is FIRST + i, to tell samples from indices


class Numbers(Dataset):
    def __init__(self, n):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, index):
        return FIRST + index


def negative(samples):
    """A collate_fn that leaves its mark."""
    return [-sample for sample in samples]


def cases_3_2(world_size):
    """(n, global batch, options) that a loader is made for."""
    w = world_size
    return [
        (12 * w, 2 * w, {"shuffle": False}),
        (7 * w + 1, 3 * w, {"shuffle": False}),
        (7 * w + 1, 3 * w, {"shuffle": False, "drop_last": True}),
        (5 * w + 1, 2 * w, {"shuffle": False, "drop_last": True}),  # padding would fill a third batch
        (6 * w + 2, 2 * w, {}),
        (6 * w + 2, 2 * w, {"shuffle": True, "seed": 3, "drop_last": True}),
        (5 * w - 1, w, {"seed": 11}),
    ]


def load_all(lesson):
    rank, world_size = dist.get_rank(), dist.get_world_size()
    found = []
    for n, batch, options in cases_3_2(world_size):
        loader, error = tried(lesson.build_loader, Numbers(n), batch, **options)
        if error:
            return {"rank": rank, "found": [*found, error]}
        if not isinstance(loader, DataLoader):
            return {"rank": rank, "found": [*found, f"no loader: {type(loader).__name__}"]}
        epochs = [plain(list(loader))]
        if has_epoch := hasattr(loader.sampler, "set_epoch"):
            for epoch in (1, 4, 0):
                loader.sampler.set_epoch(epoch)
                epochs.append(plain(list(loader)))
        found.append({"epochs": epochs, "set_epoch": has_epoch, "sampler": type(loader.sampler).__name__})
    bad = [2 * world_size + 1, world_size - 1, 3 * world_size + 2] if world_size > 2 else [2 * world_size + 1]
    errors = [tried(lesson.build_loader, Numbers(50), size)[1] for size in bad] if world_size > 1 else []
    marked = tried(lesson.build_loader, Numbers(2 * world_size), world_size, shuffle=False, collate_fn=negative)
    batches = plain(list(marked[0])) if isinstance(marked[0], DataLoader) else marked[1]
    return {"found": found, "errors": list(zip(bad, errors, strict=False)), "marked": batches}


@exercise("3.2", "A loader for a global batch", gpu=False)
def test_3_2_build_loader(grade):
    run = grade.run(load_all, ranks=3)
    world_size = run.world_size
    for number, (n, batch, options) in enumerate(cases_3_2(world_size)):
        call = f"build_loader(<{n} samples>, {batch}{''.join(f', {k}={v}' for k, v in options.items())})"
        for rank, report in enumerate(run.values):
            found = report["found"][number]
            if isinstance(found, str):
                _fail_3_2(grade, call, rank, found)
            _check_loader(grade, call, rank, world_size, n, batch, options, found)
    for rank, report in enumerate(run.values):
        for size, error in report["errors"]:
            _check_refused(grade, rank, world_size, size, error)
        grade.equal(
            report["marked"],
            [[-FIRST - rank], [-FIRST - rank - world_size]],
            rank=rank,
            what=f"the batches of build_loader(<{2 * world_size} samples>, {world_size}, shuffle=False, "
            "collate_fn=<one that negates>)",
            cause="the other options do not reach the DataLoader",
            next_step="pass them on: DataLoader(dataset, ..., **options)",
        )


def _fail_3_2(grade, call, rank, found):
    if found.startswith("no loader"):
        grade.fail(
            f"{call} returned an object of class {found.split(': ')[1]}, expected a DataLoader",
            rank=rank,
            cause="the function does not return the loader",
            next_step="return DataLoader(...)",
        )
    cause, next_step = "an error that this call does not ask for", "mend it: all arguments are in the message"
    if "mutually exclusive with shuffle" in found:
        cause = "shuffle was passed to the DataLoader, beside a sampler"
        next_step = "pass shuffle to DistributedSampler only"
    elif "batch_size should be a positive integer" in found:
        cause, next_step = "/ makes a float", "divide with //"
    elif "expected" in found and "dtype" in found:
        cause = "the DataLoader's error comes from an option that it does not know"
    grade.fail(f"{call} raised {last_line(found)}", rank=rank, cause=cause, next_step=next_step)


def _check_loader(grade, call, rank, world_size, n, batch, options, found):
    local, drop_last = batch // world_size, options.get("drop_last", False)
    told = {"rank": rank}
    for epoch, actual in zip((0, 1, 4, 0), found["epochs"], strict=False):
        shard = _shard_3_2(n, world_size, rank, options, epoch)
        expected = _cut([FIRST + index for index in shard], local, drop_last)
        cause, next_step = _cause_3_2(rank, world_size, n, batch, options, epoch, actual, expected)
        grade.equal(
            actual, expected, what=f"the batches of epoch {epoch} of {call}", cause=cause, next_step=next_step, **told
        )
        grade.check(
            found["set_epoch"],
            f"{call}.sampler is a {found['sampler']}, which has no set_epoch",
            cause="the loader was given no sampler that knows epochs (with batch_sampler=, loader.sampler is "
            "one that is not used)",
            next_step="DataLoader(dataset, sampler=DistributedSampler(...), ...)",
            **told,
        )


def _shard_3_2(n, world_size, rank, options, epoch):
    sampler = {"shuffle": True, "seed": 0, "drop_last": False, **options}
    return torch_shard(n, world_size, rank, epoch=epoch, **sampler)


def _cut(samples, size, drop_last):
    batches = [samples[i : i + size] for i in range(0, len(samples), size)]
    return [b for b in batches if len(b) == size or not drop_last]


def _cause_3_2(rank, world_size, n, batch, options, epoch, actual, expected):
    if not isinstance(actual, list) or not all(isinstance(b, list) for b in actual):
        return "the loader gives no batches", "pass batch_size="
    flat, wanted = sum(actual, []), sum(expected, [])
    sizes = {len(b) for b in actual[:-1]}
    local, drop_last = batch // world_size, options.get("drop_last", False)
    shard = [FIRST + i for i in _shard_3_2(n, world_size, rank, options, epoch)]
    if len(flat) == n and world_size > 1:
        return (
            f"this rank has all {n} samples: the loader has no sampler that shares them out",
            "pass sampler=DistributedSampler(dataset, ...)",
        )
    if flat[: len(wanted)] == wanted and sizes == {batch} and world_size > 1:
        return (
            f"every rank takes {batch} samples, so all of them together take {batch * world_size} in a step",
            "batch_size=global_batch_size // dist.get_world_size()",
        )
    if flat[: len(wanted)] == wanted and batch % 2 == 0 and sizes == {batch // 2} and world_size != 2:
        return "the global batch was divided by 2, which is not the world size", "use dist.get_world_size()"
    if flat == shard and drop_last and len(actual[-1]) < local:
        return (
            "with drop_last=True every batch must be full, but the last one is not",
            "pass drop_last to the DataLoader, too",
        )
    if not drop_last and flat == wanted[: len(flat)] and len(flat) < len(wanted):
        return "the last batch is missing: samples were dropped without drop_last", "pass drop_last=drop_last"
    if drop_last:
        padded = [FIRST + i for i in _shard_3_2(n, world_size, rank, {**options, "drop_last": False}, epoch)]
        if flat == padded[: len(flat)] and len(flat) > len(wanted) - 1 and flat[: len(wanted)] == wanted:
            return (
                "the samples were padded: with drop_last=True no sample may come twice",
                "pass drop_last to DistributedSampler, too",
            )
    if not options.get("shuffle", True) and sorted(flat) != flat[: len(flat)]:
        return "it is shuffled in spite of shuffle=False", "pass shuffle=shuffle to the sampler"
    return _cause_order_3_2(rank, world_size, n, batch, options, epoch, actual, local, drop_last)


def _cause_order_3_2(rank, world_size, n, batch, options, epoch, actual, local, drop_last):
    def batches(**changed):
        shard = _shard_3_2(n, world_size, rank, {**options, **changed}, changed.pop("epoch", epoch))
        return _cut([FIRST + i for i in shard], local, drop_last)

    if options.get("seed") and actual == batches(seed=0):
        return "the seed has no effect", "pass seed=seed to the sampler"
    if options.get("shuffle", True) and actual == batches(shuffle=False):
        return "it is not shuffled", "pass shuffle=shuffle to the sampler"
    if actual == _cut([FIRST + i for i in _shard_3_2(n, world_size, rank, options, 0)], local, drop_last):
        return (
            "set_epoch has no effect on this loader: it has the order of epoch 0",
            "use DistributedSampler, which computes its order in each pass",
        )
    if rank and actual == batches(seed=options.get("seed", 0) + rank):
        return "the rank goes into the seed: the ranks' shards overlap", "one seed for all ranks"
    for other in range(world_size):
        shard = [FIRST + i for i in _shard_3_2(n, world_size, other, options, epoch)]
        if other != rank and actual == _cut(shard, local, drop_last):
            return f"these are the samples of rank {other}", "use this process's own rank, dist.get_rank()"
    return (
        "these are not the samples of DistributedSampler with the same arguments, or not in its order",
        "compare with list(DistributedSampler(dataset, shuffle=..., seed=..., drop_last=...)) on this rank",
    )


def _check_refused(grade, rank, world_size, size, error):
    call = f"build_loader(<50 samples>, {size}) on {world_size} ranks"
    grade.check(
        error.startswith("ValueError"),
        f"{call} {f'raised {last_line(error)}' if error else 'raised nothing'}, expected a ValueError",
        rank=rank,
        cause=f"{size} cannot be divided by {world_size}; rounding would quietly train with another global batch"
        if not error
        else "another error was raised",
        next_step="if global_batch_size % dist.get_world_size(): raise ValueError(...), on every rank",
    )
    message = error.split(" (line ")[0]
    grade.check(
        str(size) in message and str(world_size) in message.replace(str(size), "", 1),
        f"{call} raised {last_line(error)}, and the message lacks {size} or {world_size}",
        rank=rank,
        cause="the message does not tell which numbers do not fit",
        next_step="put global_batch_size and the world size into the message",
    )


# ---- 3.3 ----------------------------------------------------------------------------------------

# (epochs, start_epoch or None for the default)
RUNS_3_3 = [(3, None), (5, 3), (2, 2), (1, 4), (2, 0)]


class Told(SequentialSampler):
    """Gives the number of the epoch that it was told before the pass began."""

    def __init__(self):
        super().__init__(range(3))
        self.epoch = 0

    def set_epoch(self, epoch):
        self.epoch = epoch

    def __iter__(self):
        return iter([self.epoch] * 3)


class Deaf:
    """A data set with a set_epoch of its own, that must not be mistaken for the sampler's."""

    def __init__(self, n):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, index):
        return index

    def set_epoch(self, epoch):
        pass


def run_all(lesson):
    rank, world_size = dist.get_rank(), dist.get_world_size()
    found = {"distributed": [], "told": [], "single": []}
    for epochs, start in RUNS_3_3:
        options = {} if start is None else {"start_epoch": start}
        data = Deaf(6 * world_size)
        sampler = DistributedSampler(data, world_size, rank, seed=2)
        if start == 0:
            sampler.set_epoch(9)  # the loader was used before
        loader = DataLoader(data, batch_size=2, sampler=sampler)
        found["distributed"].append(_listed(lesson, loader, epochs, options))
        if not isinstance(found["distributed"][-1], list):
            return found
        told = DataLoader(range(99), batch_size=None, sampler=Told())
        found["told"].append(_listed(lesson, told, epochs, options))
        single = DataLoader(range(4), batch_size=2)
        found["single"].append(_listed(lesson, single, epochs, options))
    return found


def _listed(lesson, loader, epochs, options):
    value, error = tried(lambda: lesson.run_epochs(loader, epochs, **options))
    if error:
        return error
    if not hasattr(value, "__iter__"):
        return f"no batches: {type(value).__name__} {value!r}"
    items, error = tried(list, value)
    if error:
        return error
    return [plain(item) for item in items]


@exercise("3.3", "Epochs with set_epoch", gpu=False)
def test_3_3_run_epochs(grade):
    run = grade.run(run_all, ranks=3)
    for rank, found in enumerate(run.values):
        for number, (epochs, start) in enumerate(RUNS_3_3):
            call = f"run_epochs(loader, {epochs}{'' if start is None else f', start_epoch={start}'})"
            order = range(start or 0, epochs)
            actual = found["distributed"][number]
            if not isinstance(actual, list):
                _fail_3_3(grade, call, rank, actual)
            _check_epochs(grade, call, rank, run.world_size, order, actual)
            grade.equal(
                found["single"][number],
                [[epoch, batch] for epoch in order for batch in ([0, 1], [2, 3])],
                rank=rank,
                what=f"what {call} gives for a loader whose sampler has no set_epoch",
                cause="set_epoch was called without a look whether there is one"
                if "set_epoch" in str(found["single"][number])
                else "a loader in a single process must be run through, too",
                next_step='if hasattr(loader.sampler, "set_epoch"): ...',
            )
            grade.equal(
                found["told"][number],
                [[epoch, epoch] for epoch in order for _ in range(3)],
                rank=rank,
                what=f"what {call} gives for a loader whose sampler gives the epoch that it was told",
                cause="only DistributedSampler is told the epoch, or it is told another one",
                next_step="call loader.sampler.set_epoch(epoch) on any sampler that has it, before the inner loop",
            )


def _fail_3_3(grade, call, rank, actual):
    if actual.startswith("no batches"):
        grade.fail(
            f"{call} returned {actual.split(': ', 1)[1]}, expected something to iterate over",
            rank=rank,
            cause="the function neither yields nor returns the batches",
            next_step="yield epoch, batch in the inner loop",
        )
    wrong_place = "set_epoch" in actual
    grade.fail(
        f"{call} raised {last_line(actual)}",
        rank=rank,
        cause="set_epoch was called on something that does not have it"
        if wrong_place
        else "an error that this call does not ask for",
        next_step="loader.sampler.set_epoch(epoch)" if wrong_place else "mend the line",
    )


def _check_epochs(grade, call, rank, world_size, order, actual):
    n = 6 * world_size

    def batches(epoch):
        return _cut(torch_shard(n, world_size, rank, seed=2, epoch=epoch), 2, False)

    expected = [[epoch, batch] for epoch in order for batch in batches(epoch)]
    pairs = all(isinstance(item, list) and len(item) == 2 and isinstance(item[1], list) for item in actual)
    grade.check(
        pairs,
        f"{call} yields {actual[0] if actual else 'nothing'}, expected pairs (epoch, batch)",
        rank=rank,
        cause="each item must be a pair of the epoch and one batch",
        next_step="yield epoch, batch",
    )
    epochs = sorted({item[0] for item in actual}, key=str)
    grade.equal(
        epochs,
        list(order),
        rank=rank,
        what=f"the epochs that {call} runs",
        cause="`epochs` is the number of the last epoch plus one, not how many are still to run"
        if len(epochs) > len(order)
        else "some epochs have no batches: one iterator of the loader for all epochs is used up after the first, or "
        "the outer loop is too short"
        if len(epochs) < len(order)
        else "epochs are counted from start_epoch",
        next_step="for epoch in range(start_epoch, epochs), and in it `for batch in loader`",
    )
    for epoch in order:
        own = [batch for number, batch in actual if number == epoch]
        late = len(order) > 2 and all(
            [batch for number, batch in actual if number == later] == batches(later - 1) for later in order[1:]
        )
        cause, next_step = _cause_3_3(rank, own, epoch, order, batches, late)
        grade.equal(
            own,
            batches(epoch),
            rank=rank,
            what=f"the batches of epoch {epoch} in {call}",
            cause=cause,
            next_step=next_step,
        )
    grade.equal(
        actual,
        expected,
        rank=rank,
        what=f"all that {call} gives",
        cause="the epochs do not come one after the other",
        next_step="the outer loop is over epochs, the inner one over batches",
    )


def _cause_3_3(rank, own, epoch, order, batches, late):
    if rank:  # the ranks before this one were right
        return (
            "rank 0 has the right order, this rank has not: set_epoch is not called, or with another number, on "
            "this rank, so the shards overlap",
            "call set_epoch on all ranks alike",
        )
    if order[0] and own == batches(epoch - order[0]):
        return (
            "set_epoch was called with the number of epochs since start_epoch, or not at all: after an interruption "
            "the first orders come again",
            "the epoch counts from 0 over the whole training: set_epoch(epoch)",
        )
    if late:
        return (
            "this is the order of the epoch before: set_epoch was called after the loop over the loader had begun",
            "call set_epoch before `for batch in loader`, which asks the sampler for its order at once",
        )
    if own == batches(0) and epoch:
        return (
            "this is the order of epoch 0: set_epoch was not called for this epoch, or on something else than "
            "loader.sampler",
            "loader.sampler.set_epoch(epoch) before `for batch in loader`, in every epoch",
        )
    if own == batches(9):
        return (
            "the loader was used before, up to epoch 9, and this is epoch 9 again: set_epoch(0) is needed, too",
            "call set_epoch in every epoch, also in epoch 0",
        )
    if own == batches(order[0]):
        return "this is the order of the first epoch: set_epoch was called once", "call it in each epoch"
    if own == batches(epoch + 1):
        return "set_epoch was called with epoch + 1", "loader.sampler.set_epoch(epoch)"
    if len(own) != len(batches(epoch)):
        return "some batches are missing, or come twice", "yield every batch of the loader once"
    return "this is not the order of this epoch", "loader.sampler.set_epoch(epoch) before the loop over the loader"


# ---- 3.4 ----------------------------------------------------------------------------------------

SIZES_3_4 = [
    *[(8, 4), (10, 4), (9, 4), (11, 4), (3, 4), (3, 8), (1, 8), (12, 1), (1, 1), (7, 3), (8, 3), (9, 3)],
    *[(n, world_size) for n in (2, 5, 16, 33, 100) for world_size in (2, 5, 6, 7, 16)],
    *[(1_281_167, 8), (999_999_937, 1024)],
]


def count_all(lesson):
    return [plain(lesson.padding_count(n, world_size)) for n, world_size in SIZES_3_4]


@exercise("3.4", "How many samples count twice", gpu=False)
def test_3_4_padding_count(grade):
    (counts,) = grade.run(count_all, ranks=1, group=False).values
    for (n, world_size), actual in zip(SIZES_3_4, counts, strict=True):
        expected = len(DistributedSampler(range(n), world_size, 0)) * world_size - n
        cause, next_step = _cause_3_4(n, world_size, actual, expected)
        grade.equal(actual, expected, what=f"padding_count({n}, {world_size})", cause=cause, next_step=next_step)


def _cause_3_4(n, world_size, actual, expected):
    if not isinstance(actual, int):
        return "this is not an int: / makes a float", "use //, % or math.ceil"
    if actual == world_size and not expected:
        return (
            "n can be divided by world_size, so nothing is added",
            "take the remainder once more: (world_size - n % world_size) % world_size",
        )
    if actual == n % world_size:
        return (
            "n % world_size is how many samples the last round has, not how many it lacks",
            "the padded length is math.ceil(n / world_size) * world_size",
        )
    if actual == world_size - n and n < world_size:
        return "this is right for n < world_size only", "math.ceil(n / world_size) * world_size - n"
    if n < world_size:
        return "n is smaller than world_size: each rank gets one index", "world_size - n must be added"
    return (
        "the padded length is the next multiple of world_size",
        "math.ceil(n / world_size) * world_size - n",
    )


# ---- 3.5 ----------------------------------------------------------------------------------------

SIZES_3_5 = [12, 10, 9, 8, 5, 3, 1, 0, 2, 7, 11, 41]
WORLDS_3_5 = [4, 3, 2, 5, 1, 8]


def sample_alone(lesson):
    """For each (n, world size): what each rank's sampler gives, made without a process group."""
    return [
        (n, world_size, [_look(lesson, n, world_size, rank) for rank in range(world_size)])
        for world_size in WORLDS_3_5
        for n in SIZES_3_5
    ]


def sample_in_group(lesson):
    return [(n, [_look(lesson, n, None, None)]) for n in SIZES_3_5]


def _look(lesson, n, num_replicas, rank):
    options = {} if rank is None else {"num_replicas": num_replicas, "rank": rank}
    sampler, error = tried(lesson.UnpaddedSampler, Numbers(n), **options)
    if error:
        return error
    box, error = tried(lambda: [plain(list(sampler)), plain(len(sampler)), plain(list(sampler))])
    if error:
        return error
    batches, error = tried(lambda: plain(list(DataLoader(Numbers(n), batch_size=2, sampler=sampler))))
    return error or [*box, sum(batches, [])]


@exercise("3.5", "A sampler for evaluation", gpu=False)
def test_3_5_unpadded_sampler(grade):
    (cases,) = grade.run(sample_alone, ranks=1, group=False).values
    for n, world_size, looks in cases:
        _check_sampler(grade, n, world_size, looks, given=True)
    run = grade.run(sample_in_group, ranks=3)
    for number, n in enumerate(SIZES_3_5):
        looks = [found[number][1][0] for found in run.values]
        _check_sampler(grade, n, run.world_size, looks, given=False)


def _check_sampler(grade, n, world_size, looks, *, given):
    def call(rank):
        place = f", num_replicas={world_size}, rank={rank}" if given else f") on rank {rank} of {world_size} (defaults"
        return f"UnpaddedSampler(<{n} samples>{place})"

    for rank, look in enumerate(looks):
        if isinstance(look, str):
            grade.fail(
                f"{call(rank)} raised {last_line(look)}",
                cause=_cause_error_3_5(look, n, world_size),
                next_step="`dist.get_rank() if rank is None else rank`, and the same for the number of ranks"
                if "process group" in look
                else "mend it for this n and rank",
            )
        first, length, second, _ = look
        grade.check(
            all(isinstance(index, int) for index in first),
            f"list({call(rank)}) is {first}, expected ints",
            cause="a sampler gives indices, not samples",
            next_step="iterate over range(n), not over the dataset",
        )
        grade.equal(
            second,
            first,
            what=f"the second pass over {call(rank)}",
            cause="an iterator can be used once only, and it was kept in the sampler"
            if not second
            else "each pass gives another order or other indices",
            next_step="keep the indices, and make a new iterator in __iter__: iter(self.indices)",
        )
    _check_shares(grade, n, world_size, [look[0] for look in looks], call)
    for rank, (first, length, _, samples) in enumerate(looks):
        grade.equal(
            length,
            len(first),
            what=f"len({call(rank)}), which gives {first},",
            cause="the length is rounded up (or that of the whole data set): DataLoader's len would be wrong"
            if isinstance(length, int) and length > len(first)
            else "the length is that of another rank, or rounded down",
            next_step="return the number of this rank's own indices: len(self.indices)",
        )
        grade.equal(
            samples,
            [FIRST + index for index in first],
            what=f"all batches of a DataLoader with {call(rank)}",
            cause="a DataLoader gets other indices out of it than list() does",
            next_step="let __iter__ return a new iterator over the same indices each time",
        )


def _cause_error_3_5(look, n, world_size):
    if "process group" in look:
        return "the process group is asked although num_replicas and rank are given"
    if n < world_size:
        return "there are fewer samples than ranks, so some ranks get none"
    return "an error that this call does not ask for"


def _check_shares(grade, n, world_size, shares, call):
    told = f"UnpaddedSampler gives the ranks {', '.join(map(str, shares))} of {n} samples"
    told += "" if "defaults" not in call(0) else f" ({world_size} ranks, by default)"
    flat = sorted(sum(shares, []))
    missing = sorted(set(range(n)) - set(flat))
    twice = sorted({index for index in flat if flat.count(index) > 1})
    foreign = sorted(set(flat) - set(range(n)))
    if world_size > 1 and all(share == shares[0] for share in shares) and n > 1:
        cause = "all ranks get the same: rank or num_replicas is not used"
        step = "take rank and num_replicas into account: every num_replicas-th index, beginning with rank"
    elif foreign:
        cause = f"{foreign} are no indices of {n} samples: are these the samples?"
        step = "give out indices, from 0 to n - 1: range(rank, n, num_replicas)"
    elif twice and not missing:
        cause = f"{twice} come more than once: this is padding, which counts samples twice in evaluation"
        step = "no padding: range(rank, n, num_replicas)"
    elif missing and twice:
        cause = f"{missing} are missing and {twice} come twice: a rank gets another rank's part, as rank=0 does with "
        cause += "`rank or dist.get_rank()`, or the ranks shuffle differently"
        step = "compute rank and parts in the same way on all ranks; compare with None, not with `or`"
    else:
        cause = f"{missing} are missing: the rest that does not come out even was left out"
        step = "some ranks get one more than others: range(rank, n, num_replicas)"
    grade.check(flat == list(range(n)), told, cause=cause, next_step=step)
    lengths = [len(share) for share in shares]
    grade.check(
        max(lengths) - min(lengths) <= 1,
        f"{told}: the lengths are {lengths}",
        cause="some ranks have much less to do than others, and wait",
        next_step="give each rank n // num_replicas indices or one more: range(rank, n, num_replicas)",
    )


# ---- 3.6 ----------------------------------------------------------------------------------------

WORKERS, DRAWS = 3, 2
LIBRARIES = ["torch", "numpy (np.random)", "random"]


class Draws(Dataset):
    """Each sample: the worker, and one number from each library."""

    def __len__(self):
        return WORKERS * DRAWS

    def __getitem__(self, index):
        numbers = torch.randint(2**62, ()).item(), int(np.random.randint(2**31)), random.getrandbits(62)
        return get_worker_info().id, *numbers


def draw_in_workers(lesson, seed):
    """Numbers of two epochs, and on rank 0 of the first epoch once more: [run][worker][library] -> numbers."""
    # DataLoader's advice to use fewer workers on a small machine would stand below every message.
    warnings.filterwarnings("ignore", message="This DataLoader will create")
    rank = int(os.environ["RANK"])
    runs = []
    for start in (True, False, True)[: 2 if rank else 3]:
        if start:
            torch.manual_seed(seed)
            # Reproducible in the rank's process; what workers inherit must not matter.
            random.seed(seed)
            np.random.seed(seed)
        numbers, error = tried(_one_epoch, partial(lesson.seed_worker, rank=rank))
        if error:
            return error
        runs.append(numbers)
    return runs


def _one_epoch(init):
    loader = DataLoader(
        Draws(), batch_size=None, num_workers=WORKERS, worker_init_fn=init, multiprocessing_context="fork"
    )
    numbers = [[[] for _ in LIBRARIES] for _ in range(WORKERS)]
    for worker, *drawn in loader:
        for library, number in enumerate(drawn):
            numbers[worker][library].append(number)
    return numbers


@exercise("3.6", "Seed the workers", gpu=False)
def test_3_6_seed_worker(grade):
    run = grade.run(draw_in_workers, 7, ranks=3, group=False)
    for rank, runs in enumerate(run.values):
        if isinstance(runs, str):
            too_large = "Seed must be between" in runs
            grade.fail(
                f"seed_worker(worker_id, rank={rank}) raised {last_line(runs)} in a worker",
                cause="numpy takes seeds of 32 bits"
                if too_large
                else "a worker does not belong to the process group"
                if "process group" in runs
                else "an error that seed_worker does not ask for",
                next_step="np.random.seed(seed % 2**32)"
                if too_large
                else "in a worker there are get_worker_info() and the arguments, but no process group",
            )
    for library, name in enumerate(LIBRARIES):
        seen = {}
        _check_again(grade, 0, run.values[0], library, name)
        for epoch, rank, worker in itertools.product(range(2), range(run.world_size), range(WORKERS)):
            numbers = tuple(run.values[rank][epoch][worker][library])
            here = (rank, worker, epoch)
            if numbers in seen:
                _fail_alike(grade, name, seen[numbers], here)
            seen[numbers] = here


def _check_again(grade, rank, runs, library, name):
    for worker in range(WORKERS):
        grade.check(
            runs[0][worker][library] == runs[2][worker][library],
            f"worker {worker} of rank {rank} draws {runs[0][worker][library]} from {name}, and in the next run, with "
            f"the same torch.manual_seed, {runs[2][worker][library]}",
            rank=rank,
            cause="the seed depends on something that changes from run to run, such as the time, a process id, or "
            "fresh entropy",
            next_step="compute the seed from get_worker_info().seed and the rank only",
        )


def _fail_alike(grade, name, one, other):
    (rank, worker, epoch), (rank2, worker2, epoch2) = one, other
    if (rank, worker) == (rank2, worker2):
        cause = "the seed is the same in all epochs, so each sample is augmented alike in each"
        step = "get_worker_info().seed (or torch.initial_seed()) is new in each epoch: start from it"
    elif worker == worker2 and epoch == epoch2:
        cause = f"the rank does not go into the seed of {name}"
        step = f"compute one seed from get_worker_info().seed and the rank, and seed {name} with it"
    elif rank == rank2:
        cause = f"the workers of one rank have the same seed for {name}"
        step = "get_worker_info().seed differs from worker to worker: start from it"
    elif epoch == epoch2:
        cause = "different (rank, worker) give the same sum, as rank + worker_id does"
        step = "number all workers of all ranks: rank * num_workers + worker_id"
    else:
        cause = "the epoch and the rank give the same sum"
        step = "number all workers of all ranks, and add that to the base seed"
    grade.fail(
        f"worker {worker} of rank {rank} in epoch {epoch} and worker {worker2} of rank {rank2} in epoch {epoch2} "
        f"draw the same numbers from {name}",
        cause=cause,
        next_step=step,
    )


# ---- 3.7 ----------------------------------------------------------------------------------------


def rest_of_epoch(n, world_size, rank, epoch, done, *, shuffle=True, seed=0, drop_last=False):
    """What resume_sampler must give in the interrupted epoch."""
    order = epoch_order(n, shuffle, seed, epoch)
    rest = order[done:]
    if drop_last:
        rest = rest[: len(rest) // world_size * world_size]
    else:
        rest = rest + list(itertools.islice(itertools.cycle(order), -len(rest) % world_size))
    return rest[rank::world_size]


def cases_3_7():
    """(n, world size, epoch, samples done, options); from simple to hard."""
    plain_order = {"shuffle": False}
    return [
        (16, 2, 0, 8, plain_order),
        (16, 2, 0, 0, plain_order),
        (18, 3, 0, 6, plain_order),
        (16, 4, 0, 8, {}),
        (16, 4, 2, 8, {"seed": 3}),
        (22, 4, 1, 8, {}),
        (22, 4, 1, 8, {"drop_last": True}),
        (21, 2, 3, 20, {"seed": 1}),
        (21, 2, 3, 20, {"drop_last": True}),
        (10, 4, 1, 10, {}),
        (10, 4, 1, 12, {}),
        (16, 8, 1, 16, {}),
        (13, 3, 4, 4, {"seed": 9}),  # 4 samples done: it was another number of ranks
        (20, 3, 1, 8, {}),
        (20, 8, 1, 18, {"drop_last": True}),
        (5, 8, 2, 4, {}),  # 1 left, 7 to be added
        (3, 8, 0, 1, plain_order),
        (40, 1, 2, 15, {}),
    ]


def resume_all(lesson):
    """[case][rank] -> report, without a process group."""
    return [
        [_resume(lesson, n, epoch, done, options, {"num_replicas": world_size, "rank": rank}, number % 2)
         for rank in range(world_size)]
        for number, (n, world_size, epoch, done, options) in enumerate(cases_3_7())
    ]  # fmt: skip


def resume_in_group(lesson):
    world_size = dist.get_world_size()
    return [_resume(lesson, 8 * world_size + 1, 2, 2 * world_size, {"seed": 4}, {}, tell) for tell in (0, 1)]


def _resume(lesson, n, epoch, done, options, place, tell):
    """What the sampler gives: the rest of the epoch, then the next two, then the first one of all."""
    sampler, error = tried(lesson.resume_sampler, Numbers(n), epoch=epoch, samples_done=done, **options, **place)
    if error:
        return error
    if sampler is None or not hasattr(sampler, "__iter__"):
        return f"no sampler: {type(sampler).__name__}"
    passes = []
    for number, now in enumerate([epoch, epoch + 1, epoch + 2, 0 if epoch else 7]):
        if number or tell:
            _, error = tried(lambda e=now: sampler.set_epoch(e)) if hasattr(sampler, "set_epoch") else (None, "no")
            if error == "no":
                return "no set_epoch"
            if error:
                return error
        found, error = tried(lambda: [plain(len(sampler)), plain(list(sampler))])
        if error:
            return error
        passes.append([now, *found])
    return passes


@exercise("3.7", "Resume in mid-epoch", gpu=False)
def test_3_7_resume_sampler(grade):
    (cases,) = grade.run(resume_all, ranks=1, group=False).values
    for (n, world_size, epoch, done, options), reports in zip(cases_3_7(), cases, strict=True):
        for rank, report in enumerate(reports):
            place = f", num_replicas={world_size}, rank={rank}"
            _check_resumed(grade, n, world_size, rank, epoch, done, options, place, report)
    run = grade.run(resume_in_group, ranks=3)
    w = run.world_size
    for rank, reports in enumerate(run.values):
        for report in reports:
            _check_resumed(grade, 8 * w + 1, w, rank, 2, 2 * w, {"seed": 4}, "", report)


def _check_resumed(grade, n, world_size, rank, epoch, done, options, place, report):
    told = "".join(f", {name}={value}" for name, value in options.items())
    call = f"resume_sampler(<{n} samples>, epoch={epoch}, samples_done={done}{told}{place})"
    if not place:
        call += f" on rank {rank} of {world_size}"
    if isinstance(report, str):
        _fail_3_7(grade, call, report)
    for number, (now, length, actual) in enumerate(report):
        full = torch_shard(n, world_size, rank, epoch=now, **options)
        expected = full if number else rest_of_epoch(n, world_size, rank, epoch, done, **options)
        if number:
            what = f"epoch {now}, after set_epoch({now}), of {call}"
            cause, next_step = _cause_later(n, world_size, rank, now, done, options, actual, report)
        else:
            what = f"the rest of epoch {epoch} from {call}"
            cause, next_step = _cause_3_7(n, world_size, rank, epoch, done, options, actual, expected)
        grade.equal(actual, expected, what=what, cause=cause, next_step=next_step)
        grade.equal(
            length,
            len(expected),
            what=f"len() of the sampler before this pass: {what}",
            cause="the length is that of a whole epoch; DataLoader's len and progress bars would be wrong"
            if not number and length == len(full)
            else "the length does not belong to the epoch that comes next",
            next_step="in __len__, count what __iter__ would give now",
        )


def _fail_3_7(grade, call, report):
    if report.startswith("no sampler"):
        grade.fail(
            f"{call} returned {report.split(': ')[1]}, expected a sampler",
            cause="the function does not return something to iterate over",
            next_step="return an object with __iter__, __len__ and set_epoch",
        )
    if report == "no set_epoch":
        grade.fail(
            f"the sampler of {call} has no set_epoch",
            cause="after the interrupted epoch there are others, and each needs its own order",
            next_step="give the class a method set_epoch(self, epoch) that stores the epoch",
        )
    grade.fail(
        f"{call} raised {last_line(report)}",
        cause="the process group is asked although num_replicas and rank are given"
        if "process group" in report
        else "an error that this call does not ask for",
        next_step="`dist.get_rank() if rank is None else rank`, and the same for the number of ranks"
        if "process group" in report
        else "mend it: all arguments are in the message",
    )


def _cause_3_7(n, world_size, rank, epoch, done, options, actual, expected):
    drop_last = options.get("drop_last", False)
    full = torch_shard(n, world_size, rank, epoch=epoch, **options)
    order = epoch_order(n, options.get("shuffle", True), options.get("seed", 0), epoch)
    if not isinstance(actual, list):
        return "the sampler gives no indices", "let __iter__ return an iterator over indices"
    if done and actual == full:
        return "nothing was left out: all samples of the epoch come again", "leave out the first samples_done"
    if 0 < done <= len(full) and world_size > 1 and actual == full[done:]:
        return (
            "each rank has left out samples_done of its own indices, but that is how many all ranks did together",
            "leave out the first samples_done of the whole order, before it is dealt",
        )
    if epoch and actual == rest_of_epoch(n, world_size, rank, 0, done, **options):
        return (
            "this is the order of epoch 0: before the first pass the sampler does not know its epoch",
            "start with epoch=epoch in the constructor",
        )
    seed = options.get("seed", 0)
    if seed and actual == rest_of_epoch(n, world_size, rank, epoch, done, **{**options, "seed": 0}):
        return "the seed has no effect", "shuffle with seed + epoch"
    if options.get("shuffle", True) and actual == rest_of_epoch(
        n, world_size, rank, epoch, done, **{**options, "shuffle": False}
    ):
        return "it is not shuffled", "use the order of shard_indices with shuffle, seed and epoch"
    rest = order[done:]
    if not drop_last and rest and -len(rest) % world_size > n and len(actual) < len(expected):
        return (
            f"{len(rest)} samples are left for {world_size} ranks, so {-len(rest) % world_size} must be added, but the "
            f"whole order has only {n}",
            "repeat the order as often as needed: (order * world_size)[:missing]",
        )
    if drop_last and actual == rest_of_epoch(n, world_size, rank, epoch, done, **{**options, "drop_last": False}):
        return "it is padded in spite of drop_last=True", "leave out the last ones instead"
    if not drop_last and actual == rest_of_epoch(n, world_size, rank, epoch, done, **{**options, "drop_last": True}):
        return "samples at the end are left out without drop_last", "add indices instead, from the start of the order"
    if rest and not drop_last:
        own = list(itertools.islice(itertools.cycle(rest), math.ceil(len(rest) / world_size) * world_size))
        if actual == own[rank::world_size]:
            return (
                "the padding was taken from what is left; without the interruption it would have come from the "
                "beginning of the epoch's order",
                "add order[:missing], where order is the whole order",
            )
    if actual == full[done // world_size :]:
        return (
            "each rank's part of the whole epoch was cut, which is right only if samples_done was dealt to the "
            f"same number of ranks; {done} is not a multiple of {world_size}, or padding was dealt already"
            if done % world_size
            else "more than the samples that are done was left out",
            "leave out the first samples_done of the whole order, then pad or drop, then deal",
        )
    if len(actual) != len(expected):
        few = len(actual) < len(expected)
        return (
            f"this rank should get {len(expected)} more samples, not {len(actual)}",
            f"{'samples are lost' if few else 'samples come again'}: the rest of the order has "
            f"{max(n - done, 0)} samples; make that divisible by the number of ranks, then deal",
        )
    if sorted(actual) == sorted(expected):
        return "these are the right samples in another order", "keep the order of the interrupted epoch"
    return (
        "these are not the samples that are left",
        "order[samples_done:], padded or cut, then every world_size-th beginning with rank",
    )


def _cause_later(n, world_size, rank, now, done, options, actual, report):
    if done and actual == rest_of_epoch(n, world_size, rank, now, done, **options):
        return (
            f"the first {done} samples are left out in this epoch, too: all later epochs are too short",
            "leave something out only in the epoch that was interrupted",
        )
    if actual == report[0][2]:
        return "set_epoch has no effect: this is the rest of the interrupted epoch again", "store the epoch, and use it"
    full = torch_shard(n, world_size, rank, epoch=report[0][0], **options)
    if actual == full:
        return "set_epoch has no effect: this is the order of the interrupted epoch", "store the epoch, and use it"
    return "epochs other than the interrupted one are those of DistributedSampler", "shuffle with seed + epoch"
