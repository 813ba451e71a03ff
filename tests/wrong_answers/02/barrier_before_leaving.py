"""
symptom: a rank that raised waits for the others instead of telling why
source: own (a hang instead of an error)
exercise: 2.5
says: waits for the other ranks
"""
from contextlib import contextmanager

import torch.distributed as dist


@contextmanager
def process_group(init, *args, **kwargs):
    init(*args, **kwargs)
    try:
        yield
    finally:
        if dist.is_initialized():
            dist.barrier()
            dist.destroy_process_group()
