"""Start the trainer on two ranks, with the numbers that suit this machine (lesson 05).

    python -m ddp_reference.launch [options of the trainer]

It is what you would type yourself, and it prints it. Where there are two GPUs or more, the ranks
use them (NCCL). Otherwise they use the CPU (Gloo).
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
    """What stands after the word torchrun.

    Args:
        gpus: On this machine. A single one cannot serve two ranks.
    """
    # --standalone lets torchrun find a free port itself, so two runs do not collide.
    arguments = ["--standalone", f"--nproc-per-node={RANKS}", "-m", "ddp_reference"]
    if 0 < gpus < RANKS:
        arguments += ["--device", "cpu"]
    return arguments + trainer_options


def main() -> None:
    options = sys.argv[1:]
    with one_message():  # --help and mistakes are answered before anything is started
        check_config(parse_config(options, speak=True), RANKS)
    arguments = torchrun_arguments(torch.accelerator.device_count(), options)
    # The ranks share the cores. torchrun would give each a single thread, with a warning, so that
    # they do not take the cores from each other.
    os.environ.setdefault("OMP_NUM_THREADS", str(max(1, torch.get_num_threads() // RANKS)))
    threads = os.environ["OMP_NUM_THREADS"]
    print(f"$ OMP_NUM_THREADS={threads} torchrun {shlex.join(arguments)}", flush=True)
    try:
        torchrun(arguments)
    except ChildFailedError as error:
        rank, failure = error.get_first_failure()
        sys.exit(f"error: rank {rank} ended with exit code {failure.exitcode}")


if __name__ == "__main__":
    main()
