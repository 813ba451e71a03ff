"""
why: a fixed stride that is larger than any number of workers
exercise: 3.6
"""
import random

import numpy
import torch


def seed_worker(worker_id, rank):
    seed = torch.initial_seed() + 100_003 * rank
    random.seed(seed)
    torch.random.manual_seed(seed)
    numpy.random.seed([seed & 0xFFFFFFFF, seed >> 32])
