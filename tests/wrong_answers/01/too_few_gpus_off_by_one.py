"""
symptom: invalid device ordinal for the last process only
source: own (wrong on one rank only)
exercise: 1.3
says: this GPU does not exist
"""
import torch


def pick_device(local_rank):
    gpus = torch.cuda.device_count()
    if gpus == 0:
        return torch.device("cpu")
    if local_rank > gpus:
        raise RuntimeError(f"local rank {local_rank} has no GPU: this machine has {gpus}")
    return torch.device("cuda", local_rank)
