"""
symptom: training runs on the CPU of a machine with one GPU
source: own (right for several, wrong for one)
exercise: 1.3
says: a single GPU counts
"""
import torch


def pick_device(local_rank):
    gpus = torch.cuda.device_count()
    if gpus <= 1:
        return torch.device("cpu")
    if local_rank >= gpus:
        raise RuntimeError(f"local rank {local_rank} has no GPU: this machine has {gpus}")
    return torch.device("cuda", local_rank)
