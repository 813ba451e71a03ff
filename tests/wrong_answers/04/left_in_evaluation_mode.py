"""
symptom: dropout and BatchNorm are off for the rest of the training
source: course list of mistakes (lesson 07)
exercise: 4.6
says: left in evaluation mode
"""
import torch
from torch.nn.parallel import DistributedDataParallel


def extract_features(ddp_model, x):
    model = ddp_model.module if isinstance(ddp_model, DistributedDataParallel) else ddp_model
    model.eval()
    with torch.no_grad():
        return model.features(x)
