"""
symptom: MASTER_PORT= in a job script gives an error from somewhere deep
source: own
exercise: 2.1
says: names
"""
import os
from datetime import timedelta

import torch.distributed as dist


def init_from_env(backend, timeout_s):
    names = ["RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"]
    missing = [name for name in names if name not in os.environ]
    if missing:
        raise ValueError(f"not set: {missing}")
    dist.init_process_group(backend, timeout=timedelta(seconds=timeout_s))
