"""
why: no Join: ranks that have finished go on with empty batches
exercise: 4.8
"""
import torch
import torch.distributed as dist
from torch.nn import functional as F


def train_uneven(ddp_model, batches, *, lr=0.1):
    optimizer = torch.optim.SGD(ddp_model.parameters(), lr=lr)
    device = next(ddp_model.parameters()).device
    batches, losses = iter(batches), []
    while True:
        batch = next(batches, None)
        anyone = torch.tensor(int(batch is not None), device=device)
        dist.all_reduce(anyone)
        if not anyone:
            return losses
        optimizer.zero_grad()
        if batch is None:
            ddp_model(torch.zeros(0, ddp_model.module.in_features, device=device)).sum().backward()
        else:
            loss = F.mse_loss(ddp_model(batch[0]), batch[1])
            loss.backward()
            losses.append(loss.item())
        optimizer.step()
