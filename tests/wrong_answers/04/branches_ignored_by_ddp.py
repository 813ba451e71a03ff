"""
symptom: the branches drift apart between ranks
source: own
exercise: 4.7
says: it was not averaged
"""
from torch.nn.parallel import DistributedDataParallel



def wrap_with_unused(model):
    names = [name for name, _ in model.named_parameters() if name != "head"]
    names += [f".{name}" for name in names]  # DDP looks for both forms at the top level
    DistributedDataParallel._set_params_and_buffers_to_ignore_for_model(model, names)
    return DistributedDataParallel(model)
