"""
symptom: two ranks share a GPU; NCCL says Duplicate GPU detected, or it is just slow
source: own (an error hidden)
exercise: 1.3
says: two processes would share one GPU
"""
import torch


def pick_device(local_rank):
    gpus = torch.cuda.device_count()
    return torch.device("cuda", local_rank % gpus) if gpus else torch.device("cpu")
