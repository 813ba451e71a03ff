"""
why: no Join: ranks agree in each step whether anyone has a batch, and average by hand
exercise: 4.8
"""
import torch
import torch.distributed as dist
from torch.nn import functional as F


def train_uneven(ddp_model, batches, *, lr=0.1):
    model = ddp_model.module
    parameters = list(model.parameters())
    batches, losses = iter(batches), []
    while True:
        batch = next(batches, None)
        anyone = torch.tensor(batch is not None, dtype=torch.int, device=parameters[0].device)
        dist.all_reduce(anyone, op=dist.ReduceOp.MAX)
        if not anyone.item():
            return losses
        model.zero_grad()
        if batch is not None:
            loss = F.mse_loss(model(batch[0]), batch[1])
            loss.backward()
            losses.append(loss.item())
        average_gradients(model)
        with torch.no_grad():
            for p in parameters:
                p -= lr * p.grad
