"""
symptom: hang in the first step
source: own (kind: hang)
exercise: 4.4
says: waits in backward()
verdict: hung
"""
import torch.distributed as dist


def train_step(ddp_model, batch, optimizer, loss_fn):
    inputs, targets = batch
    optimizer.zero_grad()
    loss = loss_fn(ddp_model(inputs), targets)
    if dist.get_rank() == 0:
        loss.backward()
    optimizer.step()
    return loss.item()
