"""
symptom: a second init that is refused destroys the group of the first
source: own (side effects left)
exercise: 2.5
says: init is inside the try
"""
from contextlib import contextmanager

import torch.distributed as dist


@contextmanager
def process_group(init, *args, **kwargs):
    try:
        init(*args, **kwargs)
        yield
    finally:
        if dist.is_initialized():
            dist.destroy_process_group()
