"""
symptom: memory grows
source: own
exercise: 4.6
says: requires_grad=True
"""
import torch
from torch.nn.parallel import DistributedDataParallel


def extract_features(ddp_model, x):
    model = ddp_model.module if isinstance(ddp_model, DistributedDataParallel) else ddp_model
    modes = [(m, m.training) for m in model.modules()]
    model.eval()
    features = model.features(x)
    for m, mode in modes:
        m.training = mode
    return features
