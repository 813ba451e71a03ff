"""
symptom: 'Your training graph has changed in this iteration'
source: own
exercise: 4.7
says: static_graph=True promises the same graph
"""
from torch.nn.parallel import DistributedDataParallel



def wrap_with_unused(model):
    return DistributedDataParallel(model, static_graph=True)
