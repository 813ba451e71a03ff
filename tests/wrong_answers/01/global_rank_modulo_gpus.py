"""
symptom: right only if every node has the same number of GPUs and uses all of them
source: MzeroMiko/VMamba#115 (a workaround)
exercise: 1.3
says: global rank (RANK)
"""
import os

import torch


def pick_device(local_rank):
    gpus = torch.cuda.device_count()
    if gpus == 0:
        return torch.device("cpu")
    if local_rank >= gpus:
        raise RuntimeError(f"local rank {local_rank} has no GPU: this machine has {gpus}")
    return torch.device("cuda", int(os.environ["RANK"]) % gpus)
