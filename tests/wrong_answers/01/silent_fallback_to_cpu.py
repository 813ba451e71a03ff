"""
symptom: one rank trains on the CPU, a hundred times slower, and all wait for it
source: own (an error hidden)
exercise: 1.3
says: it should raise RuntimeError
"""
import torch


def pick_device(local_rank):
    if local_rank < torch.cuda.device_count():
        return torch.device("cuda", local_rank)
    return torch.device("cpu")
