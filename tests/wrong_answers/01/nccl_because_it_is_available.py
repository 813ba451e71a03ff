"""
symptom: ProcessGroupNCCL is only supported with GPUs, no GPUs found
source: course list of mistakes
exercise: 1.3
says: not by the device
"""
import torch.distributed as dist


def pick_backend(device):
    return "nccl" if dist.is_nccl_available() else "gloo"
