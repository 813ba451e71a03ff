"""
why: a context manager around fn; BaseException, too; rank 0's text by a uint8 tensor
exercise: 1.4
"""
import contextlib

import torch
import torch.distributed as dist

from ddp_grader import device


@contextlib.contextmanager
def _tell_others():
    text = b""
    try:
        yield
    except BaseException as error:
        text = repr(error).encode()
        raise
    finally:
        _say(text)


def _say(text):
    length = torch.tensor(len(text), device=device())
    dist.broadcast(length, src=0)
    data = torch.zeros(int(length), dtype=torch.uint8, device=device())
    if text:
        data.copy_(torch.tensor(list(text), dtype=torch.uint8))
    if int(length):
        dist.broadcast(data, src=0)
    return bytes(data.tolist()).decode()


def rank_zero_first(fn):
    if dist.get_rank() == 0:
        with _tell_others():
            return fn()
    if text := _say(b""):
        raise InterruptedError(f"rank 0: {text}")
    return fn()
