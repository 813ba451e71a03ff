"""
symptom: after Ctrl-C in a notebook the cell cannot be run again
source: own (one kind of exception)
exercise: 2.5
says: KeyboardInterrupt
"""
from contextlib import contextmanager

import torch.distributed as dist


@contextmanager
def process_group(init, *args, **kwargs):
    init(*args, **kwargs)
    try:
        yield
    except Exception:
        dist.destroy_process_group()
        raise
    if dist.is_initialized():
        dist.destroy_process_group()
