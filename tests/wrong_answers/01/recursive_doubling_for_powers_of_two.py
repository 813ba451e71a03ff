"""
symptom: right with 2 and 4 ranks, wrong on some ranks with 3
source: own (even sizes only)
exercise: 1.5
says: some ranks have the right sum
"""
import torch
import torch.distributed as dist


def sum_over_ranks(value, device="cpu"):
    total = torch.tensor([value], dtype=torch.float64, device=device)
    step = 1
    while step < dist.get_world_size():
        partner = dist.get_rank() ^ step
        if partner < dist.get_world_size():
            theirs = torch.zeros_like(total)
            sending = dist.isend(total.clone(), partner)
            dist.recv(theirs, partner)
            sending.wait()
            total += theirs
        step *= 2
    return total.item()
