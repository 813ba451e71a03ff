"""
symptom: steps too large by the world size
source: own
exercise: 4.4
says: the gradient is the sum over the ranks
"""
import torch.distributed as dist


def train_step(ddp_model, batch, optimizer, loss_fn):
    inputs, targets = batch
    optimizer.zero_grad()
    loss = loss_fn(ddp_model(inputs), targets)
    loss.backward()
    for p in ddp_model.parameters():
        dist.all_reduce(p.grad)
    optimizer.step()
    return loss.item()
