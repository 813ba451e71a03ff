"""
symptom: the classifier's outputs are clustered
source: own
exercise: 4.6
says: these are the outputs of forward
"""
import torch
from torch.nn.parallel import DistributedDataParallel


def extract_features(ddp_model, x):
    model = ddp_model.module if isinstance(ddp_model, DistributedDataParallel) else ddp_model
    modes = [(m, m.training) for m in model.modules()]
    model.eval()
    with torch.no_grad():
        features = model(x)
    for m, mode in modes:
        m.training = mode
    return features
