"""
symptom: the branches never learn
source: own
exercise: 4.7
says: parameters were frozen
"""
from torch.nn.parallel import DistributedDataParallel



def wrap_with_unused(model):
    for name, parameter in model.named_parameters():
        if name in ("left", "right", "second"):
            parameter.requires_grad_(False)
    return DistributedDataParallel(model)
