"""
symptom: only rank 0's weights move
source: own (kind: wrong on all ranks but one)
exercise: 4.4
says: have not moved at all
"""
import torch.distributed as dist


def train_step(ddp_model, batch, optimizer, loss_fn):
    inputs, targets = batch
    optimizer.zero_grad()
    loss = loss_fn(ddp_model(inputs), targets)
    loss.backward()
    if dist.get_rank() == 0:
        optimizer.step()
    return loss.item()
