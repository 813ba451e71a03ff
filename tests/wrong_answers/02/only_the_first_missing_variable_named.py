"""
symptom: one variable is fixed, the next start names the next one
source: own (what PyTorch does by itself)
exercise: 2.1
says: stops at the first missing one
"""
from datetime import timedelta

import torch.distributed as dist


def init_from_env(backend, timeout_s):
    dist.init_process_group(backend, timeout=timedelta(seconds=timeout_s))
