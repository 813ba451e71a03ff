"""
symptom: 'DistributedDataParallel' object has no attribute 'features'
source: PyTorch forum, often
exercise: 4.6
says: has no attribute 'features'
verdict: raised
"""
import torch


def extract_features(ddp_model, x):
    with torch.no_grad():
        return ddp_model.features(x)
