"""
symptom: ValueError: Seed must be between 0 and 2**32 - 1
source: own
exercise: 3.6
says: 32 bits
"""
import random

import numpy as np
import torch
from torch.utils.data import get_worker_info


def seed_worker(worker_id, rank):
    info = get_worker_info()
    seed = info.seed + info.num_workers * rank
    torch.manual_seed(seed)
    random.seed(seed)
    np.random.seed(seed)
