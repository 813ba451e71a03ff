"""
symptom: a run cannot be repeated
source: own
exercise: 3.6
says: from run to run
"""
import random
import time

import numpy as np
import torch
from torch.utils.data import get_worker_info


def seed_worker(worker_id, rank):
    info = get_worker_info()
    seed = info.seed + info.num_workers * rank + time.time_ns()
    torch.manual_seed(seed)
    random.seed(seed)
    np.random.seed(seed % 2**32)
