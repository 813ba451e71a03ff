"""
symptom: RuntimeError: training failed, and nobody knows why
source: own
exercise: 2.5
says: replaced
"""
from contextlib import contextmanager

import torch.distributed as dist


@contextmanager
def process_group(init, *args, **kwargs):
    init(*args, **kwargs)
    try:
        yield
    except Exception as error:
        raise RuntimeError("training failed") from error
    finally:
        if dist.is_initialized():
            dist.destroy_process_group()
