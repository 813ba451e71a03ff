"""
symptom: hang when one rank alone looks at features
source: course list of mistakes (lesson 07: forward on rank 0 only)
exercise: 4.6
says: waits in
verdict: hung
"""
import torch
from torch.nn.parallel import DistributedDataParallel


def extract_features(ddp_model, x):
    model = ddp_model.module if isinstance(ddp_model, DistributedDataParallel) else ddp_model
    modes = [(m, m.training) for m in model.modules()]
    caught = []
    handle = model.frozen.register_forward_hook(lambda module, args, output: caught.append(output))
    model.eval()
    with torch.no_grad():
        ddp_model(x)
    handle.remove()
    for m, mode in modes:
        m.training = mode
    return caught[0]
