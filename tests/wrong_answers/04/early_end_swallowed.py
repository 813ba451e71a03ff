"""
symptom: the longer ranks' data is never used
source: own (kind: swallowed exception)
exercise: 4.8
says: stopped with the one that has the fewest
"""
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.distributed.algorithms.join import Join


def train_uneven(ddp_model, batches, *, lr=0.1):
    optimizer = torch.optim.SGD(ddp_model.parameters(), lr=lr)
    losses = []

    def step(inputs, targets):
        optimizer.zero_grad()
        loss = F.mse_loss(ddp_model(inputs), targets)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())

    try:
        with Join([ddp_model], throw_on_early_termination=True):
            for inputs, targets in batches:
                step(inputs, targets)
    except RuntimeError:
        pass
    return losses
