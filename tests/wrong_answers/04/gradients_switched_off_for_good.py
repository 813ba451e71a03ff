"""
symptom: element 0 of tensors does not require grad, in the next step
source: own (kind: side effect)
exercise: 4.6
says: gradients are switched off
"""
import torch
from torch.nn.parallel import DistributedDataParallel


def extract_features(ddp_model, x):
    model = ddp_model.module if isinstance(ddp_model, DistributedDataParallel) else ddp_model
    modes = [(m, m.training) for m in model.modules()]
    model.eval()
    torch.set_grad_enabled(False)
    features = model.features(x)
    for m, mode in modes:
        m.training = mode
    return features
