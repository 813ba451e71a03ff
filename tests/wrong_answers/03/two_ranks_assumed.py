"""
symptom: right with two ranks, rank 2 draws like rank 0
source: own
exercise: 3.6
says: same sum
"""
import random

import numpy as np
import torch
from torch.utils.data import get_worker_info


def seed_worker(worker_id, rank):
    info = get_worker_info()
    seed = info.seed + worker_id + rank
    torch.manual_seed(seed)
    random.seed(seed)
    np.random.seed(seed % 2**32)
