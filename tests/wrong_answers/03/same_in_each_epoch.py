"""
symptom: each sample is augmented alike in every epoch
source: xingyizhou/CenterNet#233
exercise: 3.6
says: same in all epochs
"""
import random

import numpy as np
import torch
from torch.utils.data import get_worker_info


def seed_worker(worker_id, rank):
    info = get_worker_info()
    seed = info.num_workers * rank + worker_id
    torch.manual_seed(seed)
    random.seed(seed)
    np.random.seed(seed % 2**32)
