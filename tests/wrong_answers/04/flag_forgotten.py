"""
symptom: 'Expected to have finished reduction in the prior iteration'
source: course list of mistakes
exercise: 4.7
says: Expected to have finished reduction
"""
from torch.nn.parallel import DistributedDataParallel



def wrap_with_unused(model):
    return DistributedDataParallel(model)
