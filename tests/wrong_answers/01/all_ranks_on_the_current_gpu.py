"""
symptom: all ranks allocate on GPU 0
source: course list of mistakes; pytorch/examples#969
exercise: 1.3
says: GPU 0 on every rank
"""
import torch


def pick_device(local_rank):
    gpus = torch.cuda.device_count()
    if gpus and local_rank >= gpus:
        raise RuntimeError(f"local rank {local_rank} has no GPU: this machine has {gpus}")
    return torch.device("cuda" if gpus else "cpu")
