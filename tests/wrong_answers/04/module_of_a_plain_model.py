"""
symptom: the script fails without DDP, in one process
source: own
exercise: 4.6
says: has no attribute 'module'
verdict: raised
"""
import torch


def extract_features(ddp_model, x):
    model = ddp_model.module
    modes = [(m, m.training) for m in model.modules()]
    model.eval()
    with torch.no_grad():
        features = model.features(x)
    for m, mode in modes:
        m.training = mode
    return features
