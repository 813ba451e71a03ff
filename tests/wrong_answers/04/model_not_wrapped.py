"""
symptom: no error, and no training in parallel either
source: own (kind: silence)
exercise: 4.7
says: not a DistributedDataParallel
"""
def wrap_with_unused(model):
    return model
