"""
symptom: the statistics of a frozen BatchNorm begin to move
source: own (kind: side effect)
exercise: 4.6
says: every submodule into training mode
"""
import torch
from torch.nn.parallel import DistributedDataParallel


def extract_features(ddp_model, x):
    model = ddp_model.module if isinstance(ddp_model, DistributedDataParallel) else ddp_model
    training = model.training
    model.eval()
    with torch.no_grad():
        features = model.features(x)
    model.train(training)
    return features
