"""
symptom: augmentations with random are alike on all ranks
source: own
exercise: 3.6
says: seed of random
"""
import random

import numpy as np
import torch
from torch.utils.data import get_worker_info


def seed_worker(worker_id, rank):
    info = get_worker_info()
    seed = info.seed + info.num_workers * rank
    torch.manual_seed(seed)
    np.random.seed(seed % 2**32)
