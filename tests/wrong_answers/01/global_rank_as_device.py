"""
symptom: CUDA error invalid device ordinal on node 2
source: course list of mistakes; meta-llama/llama-cookbook#90
exercise: 1.3
says: global rank (RANK)
"""
import os

import torch


def pick_device(local_rank):
    rank = int(os.environ.get("RANK", 0))
    gpus = torch.cuda.device_count()
    if gpus == 0:
        return torch.device("cpu")
    if local_rank >= gpus:
        raise RuntimeError(f"local rank {local_rank} has no GPU: this machine has {gpus}")
    return torch.device("cuda", rank)
