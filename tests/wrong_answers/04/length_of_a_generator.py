"""
symptom: object of type 'generator' has no len()
source: own
exercise: 4.8
says: has no len()
verdict: raised
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

    most = torch.tensor(len(batches))
    dist.all_reduce(most, op=dist.ReduceOp.MAX)
    with Join([ddp_model]):
        for inputs, targets in batches:
            step(inputs, targets)
    return losses
