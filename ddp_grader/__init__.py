"""Run a function on N ranks and learn exactly what happened; grade exercises in distributed PyTorch.

    from ddp_grader import run_ranks

    def total():
        x = torch.ones(1)
        dist.all_reduce(x)
        return x.item()

    run_ranks(total, 2).values    # [2.0, 2.0]

Names are imported when they are first used: the pytest plugin must not import torch in every pytest session.
"""

from importlib import import_module

_HOME = {
    "run_ranks": "runner",
    "show": "demo",
    "device": "rank",
    "caught": "rank",
    "exercise": "exercises",
    "Grade": "exercises",
    "Run": "outcomes",
    "RanksFailed": "outcomes",
    "Returned": "outcomes",
    "NotAttempted": "outcomes",
    "Raised": "outcomes",
    "Hung": "outcomes",
    "Died": "outcomes",
}
__all__ = list(_HOME)


def __getattr__(name: str):
    if name in _HOME:
        value = getattr(import_module(f"ddp_grader.{_HOME[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'ddp_grader' has no attribute {name!r}")
