"""
symptom: a timeout that never comes: timedelta(5) is five days
source: own
exercise: 2.1
says: not as seconds
"""
import os
from datetime import timedelta

import torch.distributed as dist


def init_from_env(backend, timeout_s):
    names = ["RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"]
    missing = [name for name in names if not os.environ.get(name)]
    if missing:
        raise ValueError(f"not set: {missing}")
    dist.init_process_group(backend, timeout=timedelta(timeout_s))
