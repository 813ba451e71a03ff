"""
symptom: the next init says 'trying to initialize the default process group twice!'
source: course list of mistakes (no destroy_process_group on error)
exercise: 2.5
says: still exists
"""
from contextlib import contextmanager

import torch.distributed as dist


@contextmanager
def process_group(init, *args, **kwargs):
    init(*args, **kwargs)
    yield
    dist.destroy_process_group()
