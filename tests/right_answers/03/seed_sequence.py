"""
why: numpy's SeedSequence mixes base seed and rank
exercise: 3.6
"""
import random

import numpy as np
import torch


def seed_worker(worker_id, rank):
    sequence = np.random.SeedSequence([torch.initial_seed() % 2**63, rank])
    for_torch, for_random = sequence.generate_state(2, np.uint64)
    torch.manual_seed(int(for_torch))
    random.seed(int(for_random))
    np.random.seed(sequence.generate_state(8))
