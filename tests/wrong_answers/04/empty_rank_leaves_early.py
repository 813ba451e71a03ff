"""
symptom: hang when a rank has no sample
source: own (kind: hang on an empty batch)
exercise: 4.5
says: waits in all_reduce
verdict: hung
"""
import torch
import torch.distributed as dist



def weighted_loss(losses):
    if losses.numel() == 0:
        return losses.sum()
    count = torch.tensor(losses.numel(), device=losses.device)
    dist.all_reduce(count)
    return losses.sum() * dist.get_world_size() / count
