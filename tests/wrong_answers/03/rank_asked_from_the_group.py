"""
symptom: ValueError in the worker: it belongs to no process group
source: own
exercise: 3.6
says: does not belong to the process group
"""
import random

import numpy as np
import torch
import torch.distributed as dist
from torch.utils.data import get_worker_info


def seed_worker(worker_id, rank):
    info = get_worker_info()
    seed = info.seed + info.num_workers * dist.get_rank()
    torch.manual_seed(seed)
    random.seed(seed)
    np.random.seed(seed % 2**32)
