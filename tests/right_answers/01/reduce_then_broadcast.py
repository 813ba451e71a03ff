"""
why: reduce to the last rank, broadcast from there; async_op and wait
exercise: 1.5
"""
import numpy as np
import torch
import torch.distributed as dist


def sum_over_ranks(value, device="cpu"):
    total = torch.from_numpy(np.array([value], dtype=np.float64)).to(device)
    last = dist.get_world_size() - 1
    dist.reduce(total, dst=last, async_op=True).wait()
    dist.broadcast(total, src=last)
    return np.float64(total.cpu().numpy()[0])
