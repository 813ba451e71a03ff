"""
symptom: augmentations with numpy are alike on all ranks
source: own (swallowed exception)
exercise: 3.6
says: seed of numpy
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
    try:
        np.random.seed(seed)
    except ValueError:
        pass
