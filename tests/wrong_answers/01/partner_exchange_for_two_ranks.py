"""
symptom: right with two ranks, a hang or a wrong sum with three
source: own (right at world size 2 only)
exercise: 1.5
says: not every rank's value
"""
import torch
import torch.distributed as dist


def sum_over_ranks(value, device="cpu"):
    mine = torch.tensor([value], dtype=torch.float64, device=device)
    theirs = torch.zeros_like(mine)
    world_size = dist.get_world_size()
    right, left = (dist.get_rank() + 1) % world_size, (dist.get_rank() - 1) % world_size
    sending = dist.isend(mine, right)
    dist.recv(theirs, left)
    sending.wait()
    return (mine + theirs).item()
