"""
symptom: AssertionError: Process group cannot be None, at the end of a good run
source: own
exercise: 2.5
says: destroyed twice
"""
from contextlib import contextmanager

import torch.distributed as dist


@contextmanager
def process_group(init, *args, **kwargs):
    init(*args, **kwargs)
    try:
        yield
    finally:
        dist.destroy_process_group()
