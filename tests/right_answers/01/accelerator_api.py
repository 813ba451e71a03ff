"""
why: torch.accelerator instead of torch.cuda, and makes the device current on the way
exercise: 1.3
"""
import torch


def pick_device(local_rank):
    if not torch.accelerator.is_available():
        return torch.device("cpu")
    if local_rank not in range(torch.accelerator.device_count()):
        raise ValueError(
            f"LOCAL_RANK={local_rank}, but only {torch.accelerator.device_count()} GPUs are visible"
        )
    torch.accelerator.set_device_index(local_rank)
    return torch.device(torch.accelerator.current_accelerator().type, local_rank)


def pick_backend(device):
    return {"cpu": "gloo", "cuda": "nccl"}[device.type]
