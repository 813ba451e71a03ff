"""
symptom: works on one machine; with several, all ranks say that they are rank 0
source: course list of mistakes (global and local rank)
exercise: 2.1
says: EADDRINUSE
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
    dist.init_process_group(
        backend, rank=int(os.environ["LOCAL_RANK"]), timeout=timedelta(seconds=timeout_s)
    )
