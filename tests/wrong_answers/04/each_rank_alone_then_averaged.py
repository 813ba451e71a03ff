"""
symptom: not the steps of data-parallel training
source: own
exercise: 4.8
says: weighed in another way
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

    for inputs, targets in batches:
        optimizer.zero_grad()
        loss = F.mse_loss(ddp_model.module(inputs), targets)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    for p in ddp_model.parameters():
        dist.all_reduce(p.data)
        p.data /= dist.get_world_size()
    return losses
