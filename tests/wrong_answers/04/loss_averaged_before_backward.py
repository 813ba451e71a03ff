"""
symptom: gradients scaled twice
source: course list of mistakes
exercise: 4.4
says: averaged over the ranks before backward
"""
import torch.distributed as dist


def train_step(ddp_model, batch, optimizer, loss_fn):
    inputs, targets = batch
    optimizer.zero_grad()
    loss = loss_fn(ddp_model(inputs), targets)
    own = loss.item()
    dist.all_reduce(loss)
    loss = loss / dist.get_world_size()
    loss.backward()
    optimizer.step()
    return own
