"""
symptom: training fails, the job ends with success
source: own (a swallowed exception)
exercise: 2.5
says: swallowed
"""
from contextlib import contextmanager

import torch.distributed as dist


@contextmanager
def process_group(init, *args, **kwargs):
    init(*args, **kwargs)
    try:
        yield
    except Exception as error:
        print(f"training failed: {error}")
    finally:
        if dist.is_initialized():
            dist.destroy_process_group()
