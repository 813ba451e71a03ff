"""
why: a hash of base seed, rank and worker
exercise: 3.6
"""
import hashlib
import random

import numpy as np
import torch
from torch.utils.data import get_worker_info


def seed_worker(worker_id, rank):
    base = get_worker_info().seed - worker_id
    digest = hashlib.sha256(f"{base}/{rank}/{worker_id}".encode()).digest()
    torch.manual_seed(int.from_bytes(digest[:7], "big"))
    random.seed(digest)
    np.random.seed(list(digest[:4]) + list(digest[4:8]))
