"""
why: an ExitStack calls the clean-up
exercise: 2.5
"""
from contextlib import ExitStack, contextmanager

import torch.distributed as dist


def _leave():
    if dist.group.WORLD is not None:
        dist.destroy_process_group(dist.group.WORLD)


@contextmanager
def process_group(init, *args, **kwargs):
    with ExitStack() as stack:
        init(*args, **kwargs)
        stack.callback(_leave)
        yield stack
