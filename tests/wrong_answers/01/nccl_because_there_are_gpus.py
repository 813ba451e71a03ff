"""
symptom: tensors on the CPU, backend nccl, No backend type associated with device type cpu
source: own
exercise: 1.3
says: not by the device
"""
import torch


def pick_backend(device):
    return "nccl" if torch.cuda.is_available() else "gloo"
