"""
symptom: worker 1 of rank 0 draws like worker 0 of rank 1
source: own
exercise: 3.6
says: rank + worker_id
"""
import random

import numpy as np
import torch
from torch.utils.data import get_worker_info


def seed_worker(worker_id, rank):
    info = get_worker_info()
    seed = info.seed + rank
    torch.manual_seed(seed)
    random.seed(seed)
    np.random.seed(seed % 2**32)
