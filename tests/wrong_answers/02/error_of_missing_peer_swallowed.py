"""
symptom: the script goes on alone after the others did not come
source: own (a swallowed exception)
exercise: 2.1
says: swallowed
"""
import os
from datetime import timedelta

import torch.distributed as dist


def init_from_env(backend, timeout_s):
    names = ["RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"]
    missing = [name for name in names if not os.environ.get(name)]
    if missing:
        raise ValueError(f"not set: {missing}")
    try:
        dist.init_process_group(backend, timeout=timedelta(seconds=timeout_s))
    except RuntimeError as error:
        print(f"no group: {error}")
