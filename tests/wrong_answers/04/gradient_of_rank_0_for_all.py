"""
symptom: only rank 0's data is used
source: own
exercise: 4.4
says: rank 0's gradient instead of the mean
"""
import torch.distributed as dist


def train_step(ddp_model, batch, optimizer, loss_fn):
    inputs, targets = batch
    optimizer.zero_grad()
    loss = loss_fn(ddp_model.module(inputs), targets)
    loss.backward()
    for p in ddp_model.parameters():
        dist.broadcast(p.grad, src=0)
    optimizer.step()
    return loss.item()
