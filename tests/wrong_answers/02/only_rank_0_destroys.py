"""
symptom: the second with block fails on all ranks but 0
source: own (wrong on some ranks)
exercise: 2.5
says: still exists
"""
from contextlib import contextmanager

import torch.distributed as dist


@contextmanager
def process_group(init, *args, **kwargs):
    init(*args, **kwargs)
    try:
        yield
    finally:
        if dist.is_initialized() and dist.get_rank() == 0:
            dist.destroy_process_group()
