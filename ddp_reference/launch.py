"""Start the trainer on two ranks, with the numbers that suit this machine (lesson 05).

    python -m ddp_reference.launch [options of the trainer]

It prints what you could type yourself, and does it. Where there are two GPUs or more the ranks use them (NCCL),
otherwise the CPU (Gloo).
"""

import os
import shlex
import sys

import torch
from torch.distributed.elastic.multiprocessing.errors import ChildFailedError
from torch.distributed.run import main as torchrun

from ddp_reference.config import check_config, parse_config
from ddp_reference.errors import one_message

RANKS = 2


def torchrun_arguments(gpus: int, trainer_options: list[str]) -> list[str]:
    """What stands after the word torchrun, on a machine with so many GPUs."""
    # --standalone lets torchrun find a free port itself, so that two runs do not collide.
    arguments = ["--standalone", f"--nproc-per-node={RANKS}", "-m", "ddp_reference"]
    if 0 < gpus < RANKS:  # a single GPU cannot serve two ranks
        arguments += ["--device", "cpu"]
    return arguments + trainer_options


def main() -> None:
    options = sys.argv[1:]
    with one_message():  # --help and mistakes are answered before anything is started
        check_config(parse_config(options, speak=True), RANKS)
    arguments = torchrun_arguments(torch.accelerator.device_count(), options)
    # The ranks share the cores. torchrun alone would give each a single thread, with a warning.
    threads = os.environ.setdefault("OMP_NUM_THREADS", str(max(1, torch.get_num_threads() // RANKS)))
    print(f"$ OMP_NUM_THREADS={threads} torchrun {shlex.join(arguments)}", flush=True)
    try:
        torchrun(arguments)
    except ChildFailedError as error:
        rank, failure = error.get_first_failure()
        sys.exit(f"error: rank {rank} ended with exit code {failure.exitcode}")


if __name__ == "__main__":
    main()
