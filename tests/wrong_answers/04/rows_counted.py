"""
symptom: long sentences count too much
source: huggingface/transformers#34242 (tokens)
exercise: 4.5
says: the rows were counted
"""
import torch
import torch.distributed as dist



def weighted_loss(losses):
    count = torch.tensor(len(losses), device=losses.device)
    dist.all_reduce(count)
    return losses.sum() * dist.get_world_size() / count.clamp(min=1)
