"""
symptom: Found no NVIDIA driver on your system, on a machine without GPU
source: own
exercise: 1.3
says: not what the machine has
"""
import torch


def pick_device(local_rank):
    accelerator = torch.accelerator.current_accelerator()
    if accelerator is None:
        return torch.device("cpu")
    gpus = torch.accelerator.device_count()
    if 0 < gpus <= local_rank:
        raise RuntimeError(f"local rank {local_rank} has no GPU: this machine has {gpus}")
    return torch.device(accelerator.type, local_rank)
