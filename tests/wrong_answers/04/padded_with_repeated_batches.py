"""
symptom: some samples count twice
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

    batches = list(batches)
    most = torch.tensor(len(batches), device=next(ddp_model.parameters()).device)
    dist.all_reduce(most, op=dist.ReduceOp.MAX)
    own = len(batches)
    if not batches:
        batches = [(torch.zeros(1, 2), torch.zeros(1, 1))]
        batches = [tuple(t.to(most.device) for t in b) for b in batches]
    for number in range(int(most)):
        step(*batches[number % len(batches)])
    return losses[:own]
