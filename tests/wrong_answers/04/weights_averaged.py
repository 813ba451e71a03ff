"""
symptom: looks like training, diverges
source: course list of mistakes
exercise: 4.2
says: the weights were averaged
"""
import torch.distributed as dist



def average_gradients(model):
    for p in model.parameters():
        dist.all_reduce(p.data)
        p.data /= dist.get_world_size()
