"""
symptom: KeyError: 'RANK', without a word about launchers
source: course list of mistakes (MASTER_ADDR missing)
exercise: 2.1
says: KeyError
"""
import os
from datetime import timedelta

import torch.distributed as dist


def init_from_env(backend, timeout_s):
    dist.init_process_group(
        backend,
        init_method=f"tcp://{os.environ['MASTER_ADDR']}:{os.environ['MASTER_PORT']}",
        rank=int(os.environ["RANK"]),
        world_size=int(os.environ["WORLD_SIZE"]),
        timeout=timedelta(seconds=timeout_s),
    )
