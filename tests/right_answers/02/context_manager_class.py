"""
why: a class with __enter__ and __exit__ instead of a generator
exercise: 2.5
"""
import torch.distributed as dist


class process_group:
    def __init__(self, init, *args, **kwargs):
        self.init = lambda: init(*args, **kwargs)

    def __enter__(self):
        self.init()
        return dist.group.WORLD

    def __exit__(self, *exc_info):
        if dist.is_initialized():
            dist.destroy_process_group()
        return False
