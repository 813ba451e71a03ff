"""
symptom: all ranks augment alike
source: course list of mistakes (workers seeded with worker_id only)
exercise: 3.6
says: rank does not go into the seed
"""
import random

import numpy as np
import torch
from torch.utils.data import get_worker_info


def seed_worker(worker_id, rank):
    info = get_worker_info()
    seed = 1234 + worker_id
    torch.manual_seed(seed)
    random.seed(seed)
    np.random.seed(seed % 2**32)
