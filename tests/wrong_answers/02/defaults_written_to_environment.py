"""
symptom: eight processes without launcher train eight separate models
source: course list of mistakes (MASTER_ADDR missing)
exercise: 2.1
says: defaults into the environment
"""
import os
from datetime import timedelta

import torch.distributed as dist


def init_from_env(backend, timeout_s):
    os.environ.setdefault("RANK", "0")
    os.environ.setdefault("WORLD_SIZE", "1")
    os.environ.setdefault("MASTER_ADDR", "localhost")
    os.environ.setdefault("MASTER_PORT", "29533")
    dist.init_process_group(backend, timeout=timedelta(seconds=timeout_s))
