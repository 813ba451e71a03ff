"""
symptom: works until a rank starts a little later than the others
source: own
exercise: 2.1
says: an exception that the exercise does not ask for
verdict: raised
"""
import os
from datetime import timedelta

import torch.distributed as dist


def init_from_env(backend, timeout_s):
    names = ["RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"]
    missing = [name for name in names if not os.environ.get(name)]
    if missing:
        raise ValueError(f"not set: {missing}")
    dist.init_process_group(backend, timeout=timedelta(milliseconds=timeout_s))
