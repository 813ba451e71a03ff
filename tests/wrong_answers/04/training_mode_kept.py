"""
symptom: looking at features changes the model
source: own
exercise: 4.6
says: BatchNorm updates its running statistics
"""
import torch
from torch.nn.parallel import DistributedDataParallel


def extract_features(ddp_model, x):
    model = ddp_model.module if isinstance(ddp_model, DistributedDataParallel) else ddp_model
    with torch.no_grad():
        return model.features(x)
