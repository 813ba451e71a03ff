"""Grader of lesson 04: data-parallel training by hand, and with DistributedDataParallel."""

import copy
import math

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from ddp_grader import caught, device, exercise

NUMBERS = {"rtol": 1e-4, "atol": 1e-5}  # float32 on CPU and GPU


def mean(values):
    return sum(values) / len(values)


def copy_of(gradient):
    """Gradients may be views of buckets, which the next step overwrites."""
    return None if gradient is None else gradient.detach().clone()


def alike(actual, expected):
    """Equal up to rounding; False for anything that is not such a number or tensor."""
    if not isinstance(actual, (int, float, torch.Tensor)) or actual is None:
        return False
    actual, expected = torch.as_tensor(actual), torch.as_tensor(expected)
    if actual.shape != expected.shape:
        return False
    return torch.allclose(actual.double(), expected.double(), **NUMBERS)


# ---- 4.1 ----------------------------------------------------------------------------------------


class AllKinds(nn.Module):
    """Has every kind of parameter and buffer that a model may have."""

    def __init__(self, rank):
        super().__init__()
        self.linear = nn.Linear(3, 2)
        self.norm = nn.BatchNorm1d(2)
        self.frozen = nn.Parameter(torch.zeros(2), requires_grad=False)
        self.transposed = nn.Parameter(torch.zeros(2, 3).t())
        self.strided = nn.Parameter(torch.zeros(2, 4)[:, ::2])
        # Transposed on rank 0 only: rank 0 has loaded converted weights, for example.
        self.loaded = nn.Parameter(torch.zeros(2, 3).t() if rank == 0 else torch.zeros(3, 2))
        self.register_buffer("mask", torch.zeros(4, dtype=torch.bool))
        self.register_buffer("table", torch.zeros(2, 4)[:, 1::2])
        self.register_buffer("positions", torch.zeros(3), persistent=False)
        self.register_buffer("precise", torch.zeros(2, dtype=torch.float64))
        for number, (name, tensor) in enumerate(tensors_of(self).items()):
            tensor.detach().copy_(start_value(name, number, tensor, rank))


def tensors_of(model):
    return {**dict(model.named_parameters()), **dict(model.named_buffers())}


def start_value(name, number, tensor, rank):
    """Another value for each tensor and rank."""
    if tensor.dtype == torch.bool:
        return torch.tensor([bool(rank & 1), bool(rank & 2), True, False])
    if tensor.dtype == torch.int64:
        return torch.tensor(16_777_217 + 2 * rank)  # float32 cannot hold it
    values = torch.arange(1, tensor.numel() + 1, dtype=tensor.dtype).reshape(tensor.shape)
    if tensor.dtype == torch.float64:
        values = values / 3
    return values + 10 * number + 1000 * rank


def broadcast_from_rank_0(lesson):
    model = AllKinds(dist.get_rank()).to(device())
    model.linear.weight.grad = torch.full_like(model.linear.weight, dist.get_rank() + 1.0)
    before = tensors_of(model)
    grads = [p.requires_grad for p in model.parameters()]
    lesson.broadcast_model(model)
    after = tensors_of(model)
    return {
        "values": after,
        "replaced": [n for n in before if n not in after or before[n] is not after[n]],
        "requires_grad": grads == [p.requires_grad for p in model.parameters()],
        "grad": model.linear.weight.grad,
    }


@exercise("4.1", "Broadcast the model")
def test_4_1_broadcast_model(grade):
    run = grade.run(broadcast_from_rank_0, ranks=3)
    starts = [tensors_of(AllKinds(rank)) for rank in range(run.world_size)]
    parameters = dict(AllKinds(0).named_parameters())
    for rank, report in enumerate(run.values):
        for name, expected in starts[0].items():
            kind = "parameter" if name in parameters else "buffer"
            cause, next_step = _cause_4_1(name, rank, report["values"], starts, parameters)
            grade.equal(
                report["values"].get(name),
                expected.detach(),
                rank=rank,
                what=f"the {kind} {name} after broadcast_model",
                cause=cause,
                next_step=next_step,
            )
        grade.equal(
            report["replaced"],
            [],
            rank=rank,
            what="the list of parameters and buffers that are other objects than before",
            cause="a new tensor was assigned; an optimizer would still hold the old one",
            next_step="copy the values into the tensor that is there: tensor.detach().copy_(values)",
        )
        grade.check(
            report["requires_grad"],
            "some parameter's requires_grad has changed",
            rank=rank,
            cause="it was switched off for the in-place copy, and not on again",
            next_step="use tensor.detach() or torch.no_grad() for the copy instead",
        )
        grade.equal(
            report["grad"],
            torch.full((2, 3), rank + 1.0),
            rank=rank,
            what="the gradient of linear.weight after broadcast_model",
            cause="the gradients were changed, too",
            next_step="broadcast parameters and buffers only",
        )


def _cause_4_1(name, rank, values, starts, parameters):
    """(cause, next step) for the first tensor that is wrong, from what is wrong with the others."""
    actual, wanted = values.get(name), starts[0][name]
    wrong = [n for n in starts[0] if not _equal(values.get(n), starts[0][n])]
    untouched = [n for n in wrong if _equal(values.get(n), starts[rank][n])]
    in_state = AllKinds(0).state_dict()
    buffers = [n for n in starts[0] if n not in parameters]
    if (
        wanted.dtype in (torch.int64, torch.float64)
        and alike(actual, wanted.detach())
        or _equal(actual, wanted.float().to(wanted.dtype))
    ):
        return (
            "it was sent as float32, which has only 24 bits for digits",
            "send each tensor in its own dtype",
        )
    if rank == 0:
        return (
            "rank 0 is the source, but its own values were changed",
            "broadcast with src=0, and do not change the values of rank 0",
        )
    for other in range(1, len(starts)):
        if _equal(actual, starts[other][name]) and other != rank:
            return f"it has the values of rank {other}", "broadcast from rank 0: src=0"
    if len(untouched) == len(starts[0]):
        return (
            "nothing arrived on this rank: it has the values that it was built with",
            "dist.broadcast overwrites the tensor that it is given: on every rank, give it the model's "
            "own tensors, or copy what it received into them",
        )
    if untouched and not set(untouched) - set(buffers):
        if set(untouched) == set(buffers) - set(in_state):
            return (
                "state_dict() leaves out the buffers that are registered with persistent=False",
                "loop over model.buffers() instead of state_dict()",
            )
        if not [n for n in buffers if n not in untouched]:
            return (
                "parameters were broadcast, buffers were not",
                "broadcast model.buffers() as well as model.parameters()",
            )
        return "some buffers were left out", "broadcast all of model.buffers(), of any dtype"
    if untouched == ["frozen"]:
        return "frozen parameters were left out", "broadcast all parameters, trainable or not"
    if name in ("transposed", "strided", "loaded", "table") and name in untouched:
        return (
            "this tensor is a strided view, so .contiguous() (or .reshape, .flatten) made a copy, and what "
            "arrived in the copy was not copied back",
            "after the broadcast: tensor.detach().copy_(values)",
        )
    if name in ("transposed", "strided", "loaded", "table"):
        return (
            "this tensor is a strided view, or has other strides than on rank 0, and dist.broadcast sends memory "
            "as it lies there, without a look at the strides",
            "broadcast tensor.detach().contiguous(), then copy the result back into the tensor",
        )
    return "it is neither rank 0's value nor this rank's", "broadcast each tensor from rank 0"


def _equal(actual, expected):
    return isinstance(actual, torch.Tensor) and torch.equal(actual, expected.detach())


# ---- 4.2 ----------------------------------------------------------------------------------------

PARAMETERS = ["a", "b", "c", "unused", "frozen", "transposed", "strided", "shared"]


class Gradients(nn.Module):
    """Parameters of one size: gradients that meet the wrong partner raise no error."""

    def __init__(self):
        super().__init__()
        for name in PARAMETERS:
            setattr(self, name, nn.Parameter(torch.ones(2, 2), requires_grad=name != "frozen"))
        self.transposed = nn.Parameter(torch.ones(2, 2).t())
        self.strided = nn.Parameter(torch.ones(2, 4)[:, ::2])


def own_gradient(name, rank, world_size, step):
    """The gradient that this rank starts with, or None.

    In step 0 all trainable parameters have one but `unused`. In step 1, one rank each lacks that of
    a, b and c: all ranks have equally many, so that a rank that skips does not even hang.
    """
    lacking = {"a": 2, "b": 0, "c": 1}.get(name)
    if name in ("unused", "frozen") or (step == 1 and rank == lacking):
        return None
    pattern = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    return pattern * (PARAMETERS.index(name) + 1) * (4.0 if rank == 1 else 1.0) * (step + 1) + rank


def mean_gradient(name, world_size, step):
    given = [own_gradient(name, rank, world_size, step) for rank in range(world_size)]
    given = [gradient for gradient in given if gradient is not None]
    return sum(given) / world_size if given else None


def average_two_steps(lesson):
    rank, world_size = dist.get_rank(), dist.get_world_size()
    model = Gradients().to(device())
    reports = []
    for step in range(2):
        for name, parameter in model.named_parameters():
            gradient = own_gradient(name, rank, world_size, step)
            parameter.grad = None if gradient is None else _laid_out_as(name, gradient.to(device()))
        lesson.average_gradients(model)
        parameters = dict(model.named_parameters())
        reports.append(
            {
                "grads": {n: copy_of(p.grad) for n, p in parameters.items()},
                "weights": {n: p.detach().clone() for n, p in parameters.items()},
            }
        )
    return reports


def _laid_out_as(name, gradient):
    if name == "transposed":
        return gradient.t().contiguous().t()
    if name == "strided":
        table = torch.full((2, 4), -7.0, device=gradient.device)
        table[:, ::2] = gradient
        return table[:, ::2]
    return gradient


@exercise("4.2", "Average the gradients")
def test_4_2_average_gradients(grade):
    run = grade.run(average_two_steps, ranks=3)
    for step in range(2):
        for rank, reports in enumerate(run.values):
            _check_average(grade, run.world_size, step, rank, reports[step], run.values)


def _check_average(grade, world_size, step, rank, report, all_reports):
    for name, actual in report["grads"].items():
        lacking = [r for r in range(world_size) if own_gradient(name, r, world_size, step) is None]
        expected = mean_gradient(name, world_size, step)
        cause, next_step = _cause_4_2(name, rank, world_size, step, actual, report, all_reports)
        where = f"rank {rank}: {name}.grad, which {_who_lacks(lacking, world_size)}," if lacking else f"{name}.grad"
        if expected is None:
            grade.check(
                actual is None,
                f"{where} became {actual.tolist() if actual is not None else None}, it should stay None",
                rank=rank,
                cause="the frozen parameter was treated like the others"
                if name == "frozen"
                else "zeros were filled in although no rank has a gradient; an optimizer with momentum or "
                "weight decay would move the parameter",
                next_step="leave out what no rank has: all_reduce (MAX) one flag for each parameter first",
            )
        else:
            grade.close(actual, expected, rank=rank, what=where, cause=cause, next_step=next_step, **NUMBERS)
    for name, actual in report["weights"].items():
        grade.equal(
            actual,
            torch.ones(2, 2),
            rank=rank,
            what=f"the weight {name} after average_gradients",
            cause="the weights were averaged or changed, not the gradients",
            next_step="work on parameter.grad only",
        )


def _who_lacks(ranks, world_size):
    if len(ranks) == world_size:
        return "no rank has"
    return f"rank {ranks[0]} lacks" if len(ranks) == 1 else f"ranks {ranks} lack"


def _cause_4_2(name, rank, world_size, step, actual, report, all_reports):
    own = own_gradient(name, rank, world_size, step)
    given = [own_gradient(name, r, world_size, step) for r in range(world_size)]
    given = [gradient for gradient in given if gradient is not None]
    total = sum(given) if given else None
    if any(not alike(weight, torch.ones(2, 2)) for weight in report["weights"].values()):
        return (
            "the weights were averaged or changed, not the gradients",
            "all_reduce parameter.grad, not parameter or parameter.data",
        )
    if actual is None:
        return (
            "this rank has no gradient of its own, but others have: it must get the mean, too",
            "start from torch.zeros_like(parameter) on this rank, and set parameter.grad",
        )
    if total is not None and alike(actual, total):
        return "this is the sum, not the mean", "divide by dist.get_world_size()"
    if total is not None and len(given) < world_size and alike(actual, total / len(given)):
        return (
            "it was divided by the number of ranks that have this gradient",
            "a rank without gradient counts as zeros: divide by the world size",
        )
    if total is not None and alike(actual, total / 2):
        return "the sum was divided by 2, which is not the world size", "use dist.get_world_size()"
    if step == 1 and name in ("a", "b", "c"):
        return (
            "a rank without this gradient skipped its all_reduce, so gradients of different parameters were added",
            "let all ranks agree first on which parameters are reduced (all_reduce a flag for each with MAX), and "
            "send zeros where this rank has no gradient",
        )
    if name in ("transposed", "strided"):
        return (
            "this gradient is a strided view, and a collective takes memory as it lies there"
            if not alike(actual, own)
            else "this gradient is a strided view: a contiguous copy was averaged and not copied back",
            "all_reduce a contiguous copy of the gradient, then copy the result back",
        )
    if own is not None and alike(actual, own):
        others = [
            r
            for r, reports in enumerate(all_reports)
            if alike(reports[step]["grads"][name], mean_gradient(name, world_size, step))
        ]
        return (
            f"rank {others[0]} has the mean, this rank still has its own gradient"
            if others
            else "this is still the rank's own gradient: nothing came from the others",
            "use all_reduce, which gives the result to all ranks, and store it in parameter.grad",
        )
    if own is not None and world_size > 1 and alike(actual, total / world_size**2):
        return "it was divided by the world size twice", "divide once"
    return (
        "it is not the sum of all ranks' gradients, divided by the world size",
        "all_reduce each gradient once, then divide by dist.get_world_size()",
    )


# ---- 4.3 ----------------------------------------------------------------------------------------


class NormNet(nn.Module):
    """A BatchNorm layer, and another one deeper inside."""

    def __init__(self):
        super().__init__()
        self.first = nn.BatchNorm1d(2)
        self.body = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))

    def forward(self, x):
        return self.body(self.first(x))


# On rank r: cuda:5, not cuda:r.
PRETENDED = [("cuda:5", False), ("cuda:5", True), ("cuda:0", True), ("cpu", False)]


def wrap_here_and_on_gpus(lesson):
    """Wrap for real, then on a machine that only pretends to have GPUs."""
    rank = dist.get_rank()
    report = {"wrapped": _wrap_for_real(lesson, rank)}
    if dist.get_backend() == "gloo":
        error = caught(lesson.wrap_model, NormNet(), torch.device("cpu"), sync_bn=True)
        report["sync on CPU"] = type(error).__name__
        plain = []
        error = caught(lambda: plain.append(lesson.wrap_model(nn.Linear(2, 2), torch.device("cpu"), sync_bn=True)))
        report["nothing to sync"] = str(error) if error else ""
    else:
        report["sync on GPU"] = _run_sync_bn(lesson, rank)
    notes = _pretend_gpus()
    report["pretended"] = {
        (where, sync): _wrap_pretended(lesson, notes, torch.device(where), sync) for where, sync in PRETENDED
    }
    return report


def _wrap_for_real(lesson, rank):
    model = NormNet()
    for tensor in tensors_of(model).values():
        tensor.detach().fill_(rank + 1)
    parameters = list(model.parameters())
    wrapped = lesson.wrap_model(model, device())
    report = {"class": type(wrapped).__name__, "is_ddp": isinstance(wrapped, DistributedDataParallel)}
    if not report["is_ddp"]:
        return report
    x = torch.tensor([[1.0, 2.0], [3.0, 5.0]], device=device()) * (rank + 1)
    report["before"] = {n: t.detach().clone() for n, t in tensors_of(wrapped.module).items()}
    (wrapped(x) ** 2 * torch.tensor([1.0, 2.0], device=device())).sum().backward()
    report["copy"] = any(a is not b for a, b in zip(parameters, wrapped.parameters(), strict=True))
    report["gradient"] = wrapped.module.body[1].bias.grad
    report["devices"] = sorted({str(p.device) for p in wrapped.parameters()})
    report["device"] = str(device())
    report["sync"] = _norm_layers(wrapped)
    return report


def _run_sync_bn(lesson, rank):
    """Only SyncBatchNorm gives all ranks the statistics of all samples."""
    wrapped = lesson.wrap_model(NormNet(), device(), sync_bn=True)
    wrapped(torch.tensor([[0.0, 2.0], [2.0, 6.0]], device=device()) * (rank + 1))
    return wrapped.module.first.running_mean


def _norm_layers(model):
    return sorted({type(m).__name__ for m in model.modules() if isinstance(m, nn.modules.batchnorm._BatchNorm)})


def _pretend_gpus():
    """From now on torch believes in eight GPUs. Moves and wrapping are noted, not made; returns the notes on wrapping."""
    current, notes = [0], []

    def normal(where):
        where = torch.device("cuda", where) if isinstance(where, int) else torch.device(where)
        return torch.device("cuda", current[0]) if where.type == "cuda" and where.index is None else where

    def move(model, where=None, *_, device=None, **__):
        target = where if device is None else device
        if isinstance(target, (str, int, torch.device)):
            for tensor in tensors_of(model).values():
                tensor.pretended = normal(target)
        return model

    def wrap(self, module, device_ids=None, output_device=None, *_, **__):
        nn.Module.__init__(self)
        self.module = module
        places = {str(getattr(p, "pretended", "cpu")) for p in module.parameters()}
        ids = [str(normal(d)) for d in device_ids or []]
        output = None if output_device is None else str(normal(output_device))
        norms = _norm_layers(module)
        notes.append({"places": sorted(places), "device_ids": ids, "output_device": output, "norms": norms})

    nn.Module.to = move
    nn.Module.cuda = lambda model, device="cuda": move(model, "cuda" if device is None else device)
    nn.Module.cpu = lambda model: move(model, "cpu")
    DistributedDataParallel.__init__ = wrap
    for module in (torch.cuda, torch.accelerator):
        module.is_available = lambda: True
        module.device_count = lambda: 8
    torch.cuda.current_device = lambda: current[0]
    for module, name in (
        (torch.cuda, "set_device"),
        (torch.accelerator, "set_device_index"),  # the older versions' name comes next
        (torch.accelerator, "set_device_idx"),
    ):
        setattr(module, name, lambda where: current.__setitem__(0, normal(where).index))
    return notes


def _wrap_pretended(lesson, notes, where, sync):
    notes.clear()
    wrapped = lesson.wrap_model(NormNet(), where, sync_bn=sync)
    is_ddp = isinstance(wrapped, DistributedDataParallel)
    return {"is_ddp": is_ddp, "calls": list(notes), "norms": _norm_layers(wrapped)}


@exercise("4.3", "Wrap the model")
def test_4_3_wrap_model(grade):
    run = grade.run(wrap_here_and_on_gpus, ranks=2)
    for rank, report in enumerate(run.values):
        _check_wrapped(grade, rank, report["wrapped"], run.values)
    for rank, report in enumerate(run.values):
        for (where, sync), told in report["pretended"].items():
            _check_pretended(grade, rank, where, sync, told)
        if grade.backend == "gloo":
            grade.check(
                report["sync on CPU"] == "ValueError",
                "wrap_model(model with BatchNorm, device=cpu, sync_bn=True) "
                + (
                    "returned, it should raise ValueError"
                    if report["sync on CPU"] == "NoneType"
                    else f"raised {report['sync on CPU']}, it should raise ValueError"
                ),
                rank=rank,
                cause="the layers were converted after wrapping, or not at all, so DistributedDataParallel never saw "
                "them"
                if report["sync on CPU"] == "NoneType"
                else "the exercise asks for another kind of error",
                next_step="convert first, then wrap: DistributedDataParallel raises the ValueError itself",
            )
            grade.check(
                not report["nothing to sync"],
                f"wrap_model(model without BatchNorm, device=cpu, sync_bn=True) raised {report['nothing to sync']}",
                rank=rank,
                cause="the error is raised for every model",
                next_step="convert, wrap, and leave the error to DistributedDataParallel",
            )
        else:
            means = [torch.tensor([1.0, 4.0]) * (r + 1) for r in range(run.world_size)]
            grade.close(
                report["sync on GPU"],
                mean(means) * 0.1,
                rank=rank,
                what="running_mean of the converted BatchNorm after one forward",
                cause="its batch mean is not that of all ranks' samples",
                next_step="convert the BatchNorm layers before wrapping",
                **NUMBERS,
            )


def _check_wrapped(grade, rank, told, reports):
    grade.check(
        told["is_ddp"],
        f"wrap_model returned a {told['class']}, not a DistributedDataParallel",
        rank=rank,
        cause="the wrapper was made, but something else was returned"
        if told["class"] != "NoneType"
        else "there is no return",
        next_step="return the wrapper",
    )
    grade.check(
        not told["copy"],
        "the wrapper's parameters are not those of the model that was passed in",
        rank=rank,
        cause="a copy of the model was wrapped, so an optimizer made from the model would change nothing",
        next_step="wrap the model itself, without deepcopy",
    )
    for name, actual in told["before"].items():
        grade.equal(
            actual,
            torch.ones_like(actual),
            rank=rank,
            what=f"{name} after wrapping (each rank had filled its own with rank + 1)",
            cause="the first synchronisation of DistributedDataParallel was switched off",
            next_step="leave init_sync and broadcast_buffers at their defaults",
        )
    grade.equal(
        told["devices"],
        [told["device"]],
        rank=rank,
        what="the list of devices of the wrapper's parameters",
        cause="the model was not moved",
        next_step="model.to(device) before wrapping",
    )
    grade.equal(
        told["sync"],
        ["BatchNorm1d"],
        rank=rank,
        what="the list of BatchNorm classes after wrap_model(..., sync_bn=False)",
        cause="the layers were converted although sync_bn is False",
        next_step="convert only if sync_bn is set",
    )
    gradients = [r["wrapped"]["gradient"] for r in reports if "gradient" in r["wrapped"]]
    grade.check(
        all(alike(told["gradient"], other) for other in gradients),
        f"after backward, the gradient is {told['gradient'].tolist()} here, and on the others "
        f"{[g.tolist() for g in gradients]}: it is not averaged",
        rank=rank,
        cause="DistributedDataParallel was told not to synchronise, or knows only this rank",
        next_step="wrap with the default process group and leave its options at their defaults",
    )


def _check_pretended(grade, rank, where, sync, told):
    call = f"wrap_model(model, {where}{', sync_bn=True' if sync else ''}) on a machine with 8 GPUs (pretended)"
    grade.check(
        told["is_ddp"] and bool(told["calls"]),
        f"{call} returned something else than a new DistributedDataParallel",
        rank=rank,
        cause="the model is wrapped on some devices only",
        next_step="wrap on every device; only device_ids depends on it",
    )
    made = told["calls"][-1]
    grade.equal(
        made["places"],
        [where],
        rank=rank,
        what=f"where the parameters were when {call} wrapped them",
        cause="the model was moved after wrapping, or not at all"
        if made["places"] == ["cpu"]
        else "it was moved to another GPU than `device`",
        next_step="model = model.to(device), then wrap. Take the argument `device`, not the rank",
    )
    if where == "cpu":
        grade.equal(
            made["device_ids"],
            [],
            rank=rank,
            what=f"device_ids in {call}",
            cause="this asked whether the machine has GPUs, not where the model is; "
            "DistributedDataParallel raises ValueError for device_ids and a model on the CPU",
            next_step="look at device.type",
        )
    else:
        for option in ("device_ids", "output_device"):
            given = made[option] if option == "device_ids" else [made[option]] * (made[option] is not None)
            grade.check(
                given in ([], [where]),
                f"{option} in {call} is {given}, expected [{where}] or None",
                rank=rank,
                cause="it was made from the rank or another number than the index of `device`",
                next_step="device_ids=[device]",
            )
    grade.equal(
        made["norms"],
        ["SyncBatchNorm"] if sync else ["BatchNorm1d"],
        rank=rank,
        what=f"the list of BatchNorm classes at the moment when {call} wrapped the model",
        cause=_cause_norms(sync, made["norms"], told["norms"]),
        next_step="if sync_bn: model = nn.SyncBatchNorm.convert_sync_batchnorm(model), and then wrap this model",
    )


def _cause_norms(sync, at_wrapping, afterwards):
    if not sync:
        return "the layers were converted although sync_bn is False"
    if "BatchNorm1d" in at_wrapping and "SyncBatchNorm" in at_wrapping:
        return "only some layers were converted, for example only those at the top"
    if afterwards == ["SyncBatchNorm"]:
        return "the layers were converted after wrapping"
    return "the layers were not converted, or what convert_sync_batchnorm returned was not used"


# ---- 4.4 ----------------------------------------------------------------------------------------

STEPS = 3


def small_model():
    torch.manual_seed(4)
    return nn.Linear(2, 1)


def sgd(model):
    return torch.optim.SGD(model.parameters(), lr=0.2, momentum=0.5)


def step_loss(outputs, targets):
    return 3.0 * nn.functional.smooth_l1_loss(outputs, targets, beta=0.5)


def step_batch(rank, step):
    generator = torch.Generator().manual_seed(100 * step + rank)
    return torch.randn(4, 2, generator=generator) + rank, torch.randn(4, 1, generator=generator) * 2


def leave_old_gradients(model):
    for parameter in model.parameters():
        parameter.grad = torch.full_like(parameter, 0.5)


def weights_of(model):
    return torch.cat([p.detach().flatten() for p in model.parameters()])


def three_steps(lesson):
    model = small_model().to(device())
    ddp_model = DistributedDataParallel(model)
    optimizer = sgd(model)
    leave_old_gradients(model)
    reports = []
    for step in range(STEPS):
        batch = tuple(tensor.to(device()) for tensor in step_batch(dist.get_rank(), step))
        loss = lesson.train_step(ddp_model, batch, optimizer, step_loss)
        kind = type(loss).__name__
        reports.append(
            {
                "weights": weights_of(model).clone(),
                "class": kind,
                "loss": float(torch.as_tensor(loss).detach()) if isinstance(loss, (float, torch.Tensor)) else None,
            }
        )
    return reports


def simulate_steps(ranks, *, scale=1.0, zero=True):
    """(weights after each step, losses of each rank in each step) of one process.

    Args:
        ranks: Whose batches count.
        scale: Factor on the gradient. 1: the mean.
        zero: Whether old gradients are zeroed.
    """
    model = small_model()
    optimizer = sgd(model)
    leave_old_gradients(model)
    weights, losses = [], []
    for step in range(STEPS):
        if zero:
            optimizer.zero_grad()
        own = []
        for rank in ranks:
            inputs, targets = step_batch(rank, step)
            own.append(step_loss(model(inputs), targets))
        (mean(own) * scale).backward()
        optimizer.step()
        weights.append(weights_of(model))
        losses.append([loss.item() for loss in own])
    return weights, losses


@exercise("4.4", "One training step")
def test_4_4_train_step(grade):
    run = grade.run(three_steps, ranks=3)
    everyone = range(run.world_size)
    weights, losses = simulate_steps(everyone)
    for step in range(STEPS):
        for rank, reports in enumerate(run.values):
            report = reports[step]
            cause, next_step = _cause_4_4(step, rank, run)
            grade.close(
                report["weights"],
                weights[step],
                rank=rank,
                what=f"the vector of weights after step {step + 1}",
                cause=cause,
                next_step=next_step,
                **NUMBERS,
            )
            grade.check(
                report["class"] == "float",
                f"train_step returned a {report['class']}, not a float",
                rank=rank,
                cause="the loss tensor was returned; it would keep its graph alive"
                if report["class"] == "Tensor"
                else "",
                next_step="return loss.item()",
            )
            grade.close(
                report["loss"],
                losses[step][rank],
                rank=rank,
                what=f"the loss that train_step returned in step {step + 1}",
                cause="this is the mean over the ranks"
                if alike(report["loss"], mean(losses[step]))
                else "this is not the rank's own loss before the step",
                next_step="return the loss of this rank's batch, on which backward was called",
                **NUMBERS,
            )


def _cause_4_4(step, rank, run):
    size = run.world_size
    everyone = range(size)
    actual = [reports[step]["weights"] for reports in run.values]

    def is_like(**options):
        return alike(actual[rank], simulate_steps(everyone, **options)[0][step])

    start = weights_of(small_model())
    if alike(actual[rank], start):
        alone = any(not alike(other, start) for other in actual)
        return (
            "the weights have not moved at all" + (" on this rank" if alone else ""),
            "call loss.backward() and optimizer.step()" + (" on every rank" if alone else ""),
        )
    if size > 1 and alike(actual[-1], simulate_steps([0])[0][step]):
        return "all ranks use rank 0's gradient instead of the mean", "leave the gradients to DDP"
    if alike(actual[rank], simulate_steps([rank])[0][step]) and size > 1:
        return (
            "this rank trained alone: its gradients were not averaged, because the forward went past the wrapper "
            "(for example through ddp_model.module), or under no_sync()",
            "call ddp_model(inputs)",
        )
    if is_like(scale=1 / size) and size > 1:
        return (
            "the gradient is too small by a factor of the world size: the loss was divided or averaged over the "
            "ranks before backward, and then DDP averages again",
            "call backward on this rank's own loss",
        )
    if is_like(scale=size) and size > 1:
        return "the gradient is the sum over the ranks, DDP's mean times the world size", "leave DDP's gradients alone"
    if is_like(zero=False):
        return "old gradients were added: they are never zeroed, or after the step only", "optimizer.zero_grad() first"
    if not all(alike(other, actual[0]) for other in actual):
        return (
            "the ranks' weights differ, so they did not all use the mean gradient",
            "forward through ddp_model, backward and step in the same way on every rank",
        )
    if step:
        return (
            "the steps before were right, so something is left over from one step to the next",
            "in each step: zero_grad, forward, loss, backward, step",
        )
    own = step_loss(small_model()(step_batch(rank, 0)[0]), step_batch(rank, 0)[1]).item()
    if not alike(run.values[rank][0]["loss"], own):
        return "the loss is another one than loss_fn gives", "loss_fn(ddp_model(inputs), targets)"
    return (
        "it is not the step that one process would make with the batches of all ranks",
        "zero_grad, loss_fn(ddp_model(inputs), targets), backward, optimizer.step",
    )


# ---- 4.5 ----------------------------------------------------------------------------------------

# The shape of each rank's losses in each case (rank 3 and more: like rank 0).
SHAPES = {
    "2 samples on each rank": [(2,), (2,), (2,)],
    "3, 1 and 2 samples": [(3,), (1,), (2,)],
    "no sample on rank 0": [(0,), (3,), (1,)],
    "no sample on the last two ranks": [(5,), (0,), (0,)],
    "losses of shape [samples, tokens]": [(2, 3), (1, 5), (3, 1)],
    "no sample on any rank": [(0,), (0,), (0,)],
}


def values_of(case, rank):
    """One number for each loss."""
    shape = SHAPES[case][rank % 3]
    return torch.arange(1.0, math.prod(shape) + 1).reshape(shape) ** 2 + 10 * rank


def backward_of_weighted_losses(lesson):
    model = nn.Linear(1, 1, bias=False).to(device())
    ddp_model = DistributedDataParallel(model)
    reports = {}
    for case in SHAPES:
        model.weight.data.fill_(2.0)
        ddp_model.zero_grad()
        values = values_of(case, dist.get_rank()).to(device())
        losses = ddp_model(values.reshape(-1, 1)).reshape(values.shape)
        loss = lesson.weighted_loss(losses)
        graph = isinstance(loss, torch.Tensor) and loss.requires_grad
        report = {
            "class": type(loss).__name__,
            "graph": graph,
            "shape": list(loss.shape) if isinstance(loss, torch.Tensor) else None,
        }
        reports[case] = report
        if not graph or loss.dim():
            break  # backward cannot be called
        report["value"] = loss.detach()
        loss.backward()
        report["gradient"] = None if model.weight.grad is None else model.weight.grad.item()
    return reports


def weigh_without_ddp(lesson):
    """One call; all ranks have samples but the last. Does the gradient reach the weight?"""
    count = 0 if dist.get_rank() == dist.get_world_size() - 1 else 2
    weight = torch.ones((), device=device(), requires_grad=True)
    print(f"(grader) samples on this rank: {count}")
    loss = lesson.weighted_loss(weight * torch.ones(count, device=device()))
    if not isinstance(loss, torch.Tensor) or not loss.requires_grad:
        return False
    return torch.autograd.grad(loss.sum(), weight, allow_unused=True)[0] is not None


@exercise("4.5", "A loss for uneven batches")
def test_4_5_weighted_loss(grade):
    run = grade.outcomes(backward_of_weighted_losses, ranks=3)
    if not run.ok:
        # The collectives of backward blur who did what. Without them it is clear.
        for rank, connected in enumerate(grade.run(weigh_without_ddp, ranks=3).values):
            grade.check(
                connected,
                "the result of weighted_loss is not connected to the graph of the losses",
                rank=rank,
                cause="a new tensor is returned, so backward on this rank does not reach the model, and the "
                "others wait for it",
                next_step="return losses.sum() times a factor, also where there are no losses: the sum is 0 then",
            )
        grade.run(backward_of_weighted_losses, ranks=3)
    for case in SHAPES:
        for rank, reports in enumerate(run.values):
            _check_weighted(grade, run, case, rank, reports[case])


def _check_weighted(grade, run, case, rank, report):
    grade.check(
        report["class"] == "Tensor" and report["graph"],
        f"rank {rank}: weighted_loss returned {_a_what(report)} ({case})",
        rank=rank,
        cause="the losses were turned into a number, or detached",
        next_step="return losses.sum() times a factor, without .item() or .detach()",
    )
    grade.equal(
        report["shape"],
        [],
        rank=rank,
        what=f"rank {rank}: the shape of the result ({case})",
        cause="the losses were not summed up",
        next_step="return losses.sum() times a factor",
    )
    everything = torch.cat([values_of(case, r).flatten() for r in range(run.world_size)])
    expected = everything.mean().item() if len(everything) else 0.0
    actual = report["gradient"]
    cause, next_step = _cause_4_5(case, actual, run.world_size, everything, expected)
    grade.close(
        actual,
        expected,
        rank=rank,
        what=f"rank {rank}: the gradient after backward ({case})",
        cause=cause,
        next_step=next_step,
        **NUMBERS,
    )
    value = mean([reports[case]["value"].item() for reports in run.values])
    grade.close(
        value,
        2 * expected,
        what=f"the mean over the ranks of what weighted_loss returned ({case})",
        cause=_no_number(everything) if not math.isfinite(value) else "its gradient is right, its value is not",
        next_step="return losses.sum() * world_size / (number of losses on all ranks, at least 1)",
        **NUMBERS,
    )


def _no_number(everything):
    return "the mean of no losses is nan" if len(everything) else "0 / 0: no rank has any loss"


def _a_what(report):
    if report["class"] != "Tensor":
        return f"a {report['class']}, not a tensor"
    return "a tensor that is not connected to the graph of the losses"


def _cause_4_5(case, actual, size, everything, expected):
    ranks = [values_of(case, r) for r in range(size)]
    means = [v.mean().item() if v.numel() else 0.0 for v in ranks]
    if actual is None:
        return "backward did not reach the model's weight", "return losses.sum() times a factor, also if it is empty"
    if not math.isfinite(actual):
        return (
            _no_number(everything),
            "sum the losses instead of taking their mean, and divide by a count that is at least 1",
        )
    count = len(everything)
    candidates = [
        (
            mean(means),
            "this is the mean of the ranks' means: small batches count too much",
            "divide the sum by the number of losses on all ranks",
        ),
        (
            expected / size,
            "it is too small by a factor of the world size: DDP divides by it as well",
            "multiply by dist.get_world_size()",
        ),
        (
            expected * size,
            "it is too large by a factor of the world size",
            "DDP averages over the ranks: the factor is world_size / count, with the count of all ranks",
        ),
        (
            expected * count / size,
            "the losses were summed up, but not divided by their number on all ranks",
            "divide by the number of losses on all ranks, and multiply by the world size",
        ),
    ]
    samples = sum(v.shape[0] for v in ranks)
    if samples and samples != count:
        candidates.append(
            (
                everything.sum().item() / samples,
                "the rows were counted (len), not the elements",
                "count with losses.numel()",
            )
        )
    for value, cause, next_step in candidates:
        if alike(actual, value):
            return cause, next_step
    return (
        "the samples do not all count the same",
        "losses.sum() * world_size / count, where count is all_reduced over the ranks",
    )


# ---- 4.6 ----------------------------------------------------------------------------------------


class FeatureNet(nn.Module):
    """Dropout and BatchNorm, which behave differently in training, and a frozen part."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(6)
        self.body = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Dropout(0.5))
        self.frozen = nn.BatchNorm1d(4)
        self.head = nn.Linear(4, 1)
        for norm in (self.body[1], self.frozen):
            norm.running_mean.copy_(torch.tensor([1.0, -1.0, 0.5, 0.0]))

    def features(self, x):
        return self.frozen(self.body(x))

    def forward(self, x):
        return self.head(self.features(x))


KINDS = ["wrapped, training", "wrapped, evaluation", "not wrapped, training"]


def extract_on_one_rank(lesson):
    """Only the last rank calls the learner's function: a collective in it would never end."""
    x = torch.arange(12.0).reshape(4, 3).to(device()) / 6
    models = [FeatureNet().to(device()) for _ in KINDS]
    ddp_models = [DistributedDataParallel(m) if "not" not in k else m for k, m in zip(KINDS, models, strict=True)]
    if dist.get_rank() != dist.get_world_size() - 1:
        return None
    reports = []
    for kind, model, ddp_model in zip(KINDS, models, ddp_models, strict=True):
        ddp_model.train("training" in kind)
        model.frozen.eval()
        with torch.no_grad():
            expected = copy.deepcopy(model).eval().features(x)
        before = {n: t.detach().clone() for n, t in tensors_of(model).items()}
        modes = {n: m.training for n, m in model.named_modules()}
        trainable = [p.requires_grad for p in model.parameters()]
        features = lesson.extract_features(ddp_model, x)
        after = {n: m.training for n, m in model.named_modules()}
        reports.append(
            {
                "class": type(features).__name__,
                "features": features,
                "graph": isinstance(features, torch.Tensor) and features.requires_grad,
                "expected": expected,
                "changed": [n for n, t in tensors_of(model).items() if not torch.equal(t, before[n])],
                "modes": {n or "the model": (modes[n], after[n]) for n in modes if modes[n] != after[n]},
                "wrapper mode": ddp_model.training,
                "grad enabled": torch.is_grad_enabled(),
                "trainable": trainable == [p.requires_grad for p in model.parameters()],
                "outputs": model.head(expected).shape == getattr(features, "shape", None),
            }
        )
        torch.set_grad_enabled(True)
    return reports


@exercise("4.6", "Extract features")
def test_4_6_extract_features(grade):
    run = grade.run(extract_on_one_rank, ranks=2)
    rank = run.world_size - 1
    for kind, report in zip(KINDS, run.values[rank], strict=True):
        _check_features(grade, rank, kind, report)


def _check_features(grade, rank, kind, report):
    told = f"(the model is {kind.replace(', ', ' and in ')} mode)"
    grade.equal(
        report["changed"],
        [],
        rank=rank,
        what=f"the list of parameters and buffers that extract_features changed {told}",
        cause="BatchNorm updates its running statistics in every forward in training mode",
        next_step="call model.eval() before, on the model inside the wrapper",
    )
    grade.close(
        report["features"],
        report["expected"],
        rank=rank,
        what=f"the features {told}",
        cause=_cause_features(report),
        next_step="return model.features(x), computed after model.eval()",
        **NUMBERS,
    )
    grade.check(
        not report["graph"],
        f"the features have requires_grad=True {told}",
        rank=rank,
        cause="they keep the whole graph alive",
        next_step="compute them under torch.no_grad()",
    )
    if report["modes"]:
        name, (before, after) = next(iter(report["modes"].items()))
        modes = {True: "training", False: "evaluation"}
        grade.fail(
            f"{name} was in {modes[before]} mode before extract_features and is in {modes[after]} mode now {told}",
            rank=rank,
            cause="model.train() puts every submodule into training mode, also those that were not"
            if after
            else "the model was left in evaluation mode",
            next_step="note module.training for every module of model.modules(), and put it back after",
        )
    grade.check(
        report["wrapper mode"] == ("training" in kind),
        f"the wrapper's own mode has changed {told}",
        rank=rank,
        cause="eval() or train() was called on the wrapper",
        next_step="call it on ddp_model.module",
    )
    grade.check(
        report["grad enabled"] and report["trainable"],
        "afterwards, gradients are switched off" + ("" if report["trainable"] else " for the model's parameters"),
        rank=rank,
        cause="torch.set_grad_enabled(False) or requires_grad_(False) was not undone",
        next_step="use `with torch.no_grad():`, which ends by itself",
    )


def _cause_features(report):
    if report["class"] != "Tensor":
        return f"it returned a {report['class']}"
    if report["outputs"]:
        return "these are the outputs of forward, not the features"
    return "dropout or the batch's own statistics were used: the model was not in evaluation mode"


# ---- 4.7 ----------------------------------------------------------------------------------------


class Branches(nn.Module):
    """y = head * (weight of the branch taken) * x, and a second output."""

    def __init__(self):
        super().__init__()
        for name, value in [("left", 2.0), ("right", 3.0), ("head", 1.0), ("second", 5.0)]:
            setattr(self, name, nn.Parameter(torch.tensor([value])))
        self.frozen = nn.Parameter(torch.tensor([7.0]), requires_grad=False)

    def forward(self, x, way):
        branch = {"left": self.left, "right": self.right}[way]
        return {"main": (self.head * branch * x).sum(), "second": (self.second * x).sum()}


# What each rank does in a step: the branch, and whether the second output is part of the loss.
PLANS = {
    "all ranks go left": lambda rank: ("left", True),
    "all ranks go right": lambda rank: ("right", True),
    "rank 0 goes left, the others right": lambda rank: ("left" if rank == 0 else "right", True),
    "the second output is not part of the loss": lambda rank: ("left", False),
    "rank 0 uses both outputs and goes right, the others use the first and go left": lambda rank: (
        ("right", True) if rank == 0 else ("left", False)
    ),
}


def unused_input(rank):
    return torch.tensor([rank + 1.0])


def train_with_branches(lesson):
    rank = dist.get_rank()
    model = Branches().to(device())
    parameters = list(model.parameters())
    ddp_model = lesson.wrap_with_unused(model)
    report = {
        "is_ddp": isinstance(ddp_model, DistributedDataParallel),
        "class": type(ddp_model).__name__,
        "steps": {},
        "frozen": [n for n, p in model.named_parameters() if not p.requires_grad],
    }
    if not report["is_ddp"]:
        return report
    report["copy"] = any(a is not b for a, b in zip(parameters, ddp_model.parameters(), strict=True))
    for plan, way_of in PLANS.items():
        if rank == 0:  # told if ranks hang
            print(f"(grader) step: {plan}")
        way, both = way_of(rank)
        ddp_model.zero_grad()

        def step(way=way, both=both):
            outputs = ddp_model(unused_input(rank).to(device()), way)
            (outputs["main"] + outputs["second"] if both else outputs["main"]).backward()

        error = caught(step)
        grads = {n: copy_of(p.grad) for n, p in ddp_model.module.named_parameters()}
        report["steps"][plan] = {"error": str(error) if error else "", "grads": grads}
        if error:
            break
    return report


def gradients_of_plan(plan, size):
    """For each parameter the list of the ranks' own gradients, None where it is not used."""
    model = Branches()
    own = {name: [] for name, p in model.named_parameters()}
    for rank in range(size):
        way, both = PLANS[plan](rank)
        model.zero_grad()
        outputs = model(unused_input(rank), way)
        (outputs["main"] + outputs["second"] if both else outputs["main"]).backward()
        for name, parameter in model.named_parameters():
            own[name].append(None if parameter.grad is None else parameter.grad.clone())
    return own


@exercise("4.7", "Wrap a model with unused parameters")
def test_4_7_wrap_with_unused(grade):
    run = grade.run(train_with_branches, ranks=3)
    for rank, report in enumerate(run.values):
        grade.check(
            report["is_ddp"],
            f"wrap_with_unused returned a {report['class']}, not a DistributedDataParallel",
            rank=rank,
            cause="there is no return" if report["class"] == "NoneType" else "something else was returned",
            next_step="return the wrapper",
        )
        grade.equal(
            report["frozen"],
            ["frozen"],
            rank=rank,
            what="the list of frozen parameters after wrap_with_unused",
            cause="parameters were frozen, so that they never learn",
            next_step="leave requires_grad as it is; DDP has an option for unused parameters",
        )
        grade.check(
            not report["copy"],
            "the wrapper's parameters are not those of the model that was passed in",
            rank=rank,
            cause="a copy of the model was wrapped",
            next_step="wrap the model itself",
        )
    for rank, report in enumerate(run.values):
        for plan, step in report["steps"].items():
            _check_error(grade, rank, plan, step["error"])
    for plan in PLANS:
        for rank, report in enumerate(run.values):
            _check_plan(grade, rank, plan, report["steps"][plan]["grads"], run.world_size)


def _check_error(grade, rank, plan, error):
    grade.check(
        not error,
        f"rank {rank}: in the step '{plan}', DDP raised: {error.split('. ')[0][:200]}",
        rank=rank,
        cause="static_graph=True promises the same graph in each step"
        if "static_graph" in error
        else "some parameter got no gradient in the step before, and DDP still waits for it",
        next_step="wrap with find_unused_parameters=True",
    )


def _check_plan(grade, rank, plan, grads, size):
    for name, own in gradients_of_plan(plan, size).items():
        used = [g for g in own if g is not None]
        actual = grads.get(name)
        what = f"rank {rank}: the gradient of {name} in the step '{plan}'"
        if not used:
            grade.check(
                actual is None or not actual.any(),
                f"{what} is {actual.tolist() if actual is not None else None}, but no rank used it",
                rank=rank,
                cause="a gradient of an earlier step was kept",
                next_step="leave gradients to DDP",
            )
            continue
        grade.close(
            actual,
            sum(used) / size,
            rank=rank,
            what=what,
            cause=_cause_4_7(actual, own[rank], sum(used), len(used)),
            next_step="let DDP average every parameter: DistributedDataParallel(model, find_unused_parameters=True)",
            **NUMBERS,
        )


def _cause_4_7(actual, own, total, used):
    if (actual is None and own is None) or (own is not None and alike(actual, own)):
        return "this is the rank's own gradient: it was not averaged over the ranks"
    if alike(actual, total / used):
        return "it was divided by the number of ranks that used the parameter, not by the world size"
    return "it is not the sum of the ranks' gradients divided by the world size"


# ---- 4.8 ----------------------------------------------------------------------------------------

LR = 0.1
# How many batches each rank has. One case a run: what hangs in one must not meet the next.
COUNTS = [[1, 3, 0], [2, 0]]


def told_counts(counts):
    return "ranks with " + ", ".join(map(str, counts[:-1])) + f" and {counts[-1]} batches"


def uneven_model():
    torch.manual_seed(8)
    return nn.Linear(2, 1)


def uneven_batch(rank, number):
    generator = torch.Generator().manual_seed(10 * rank + number)
    return torch.randn(3, 2, generator=generator) + rank, torch.randn(3, 1, generator=generator)


def train_on_batches(lesson, counts):
    rank = dist.get_rank()
    model = uneven_model().to(device())
    ddp_model = DistributedDataParallel(model)
    given = []

    def batches():
        for number in range(counts[rank]):
            given.append(number)
            yield tuple(tensor.to(device()) for tensor in uneven_batch(rank, number))

    print(f"(grader) batches on this rank: {counts[rank]}")  # told if ranks hang
    losses = lesson.train_uneven(ddp_model, batches())
    is_list = isinstance(losses, (list, tuple))
    return {
        "weights": weights_of(model),
        "losses": [float(loss) for loss in losses] if is_list else f"a {type(losses).__name__}",
        "given": len(given),
    }


def simulate_uneven(counts, *, divisor="all", steps="all", momentum=0.0):
    """(weights after all steps, losses of each rank) of one process.

    Args:
        counts: The number of batches of each rank.
        divisor: "active": divide by the number of ranks that still have a batch.
        steps: "fewest": stop when the first rank runs out.
        momentum: Of SGD.
    """
    model = uneven_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=LR, momentum=momentum)
    losses = [[] for _ in counts]
    for number in range(min(counts) if steps == "fewest" else max(counts)):
        active = [rank for rank, count in enumerate(counts) if number < count]
        optimizer.zero_grad()
        for rank in active:
            inputs, targets = uneven_batch(rank, number)
            loss = nn.functional.mse_loss(model(inputs), targets)
            (loss / len(active if divisor == "active" else counts)).backward()
            losses[rank].append(loss.item())
        optimizer.step()
    return weights_of(model), losses


@exercise("4.8", "Train with uneven numbers of batches")
def test_4_8_train_uneven(grade):
    for counts in COUNTS:
        run = grade.run(train_on_batches, counts, ranks=len(counts))
        _check_uneven(grade, counts[: run.world_size], run.values)


def _check_uneven(grade, counts, reports):
    weights, losses = simulate_uneven(counts)
    for rank, report in enumerate(reports):
        grade.equal(
            report["given"],
            counts[rank],
            rank=rank,
            what=f"the number of batches that train_uneven took ({told_counts(counts)})",
            cause="it stopped when some rank ran out of batches, and left the others' batches out",
            next_step="go on until every rank has used all of its batches",
        )
        cause, next_step = _cause_4_8(counts, rank, [report["weights"] for report in reports])
        grade.close(
            report["weights"],
            weights,
            rank=rank,
            what=f"the vector of weights after train_uneven ({told_counts(counts)})",
            cause=cause,
            next_step=next_step,
            **NUMBERS,
        )
        grade.close(
            report["losses"],
            losses[rank],
            rank=rank,
            what=f"the list of losses that train_uneven returned ({told_counts(counts)})",
            cause="it is one float for each batch of this rank, before the step with this batch",
            next_step="collect the local losses (train_step returns them) in a list",
            **NUMBERS,
        )


def _cause_4_8(counts, rank, actual):
    start = weights_of(uneven_model())
    if all(alike(other, start) for other in actual):
        if min(counts) == 0:
            return (
                "no rank's weights have moved: all stopped with the one that has the fewest batches",
                "train on all batches",
            )
        return "the weights have not moved", "make an optimizer step for each batch"
    if alike(actual[rank], simulate_uneven(counts, divisor="active")[0]):
        return (
            "the gradients were divided by the number of ranks that still train",
            "divide by the world size in every step: Join's default, divide_by_initial_world_size=True",
        )
    if alike(actual[rank], simulate_uneven(counts, steps="fewest")[0]):
        return "all ranks stopped with the one that has the fewest batches", "train on all batches"
    if alike(actual[rank], simulate_uneven(counts, momentum=0.9)[0]):
        return "SGD with momentum was used", f"torch.optim.SGD(ddp_model.parameters(), lr={LR})"
    if not all(alike(other, actual[0]) for other in actual):
        return (
            "the ranks end with different weights: those that ran out of batches did not get the final ones",
            "put the whole loop into `with Join([ddp_model]):`",
        )
    return (
        "some batch was left out, used twice, or weighed in another way",
        f"one SGD step (lr={LR}, no momentum) for each batch, inside one Join context",
    )
