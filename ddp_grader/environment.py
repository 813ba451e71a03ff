"""The environment variables of a rank, and how many ranks this machine can run."""

from __future__ import annotations

import sys


def torchrun_env(rank: int, world_size: int, port: int) -> dict[str, str | None]:
    """The variables that torchrun sets, for one node."""
    return {
        "RANK": str(rank),
        "LOCAL_RANK": str(rank),
        "WORLD_SIZE": str(world_size),
        "LOCAL_WORLD_SIZE": str(world_size),
        "GROUP_RANK": "0",
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port),
    }


def backend_env(backend: str, world_size: int) -> dict[str, str | None]:
    """What the backend needs on this machine."""
    # Loopback: looking up this machine's own name can fail or take seconds on a laptop.
    env: dict[str, str | None] = {"GLOO_SOCKET_IFNAME": "lo0" if sys.platform == "darwin" else "lo"}
    if backend == "nccl" and world_size > gpu_count():
        env["NCCL_MULTI_RANK_GPU_ENABLE"] = "1"
    return env


def gpu_count() -> int:
    """The number of CUDA devices here; does not initialise CUDA."""
    import torch

    return torch.cuda.device_count()


def nccl_ranks(wanted: int) -> int:
    """How many NCCL ranks can run here if `wanted` would be best: 0 without a GPU."""
    import torch

    gpus = gpu_count()
    if gpus == 1 and torch.cuda.nccl.version() >= (2, 30):
        return wanted  # NCCL 2.30 lets several ranks share one GPU
    return min(wanted, gpus)
