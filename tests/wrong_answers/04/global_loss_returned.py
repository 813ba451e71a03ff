"""
symptom: one more collective in each step, and another value than asked for
source: own
exercise: 4.4
says: this is the mean over the ranks
"""
import torch.distributed as dist


def train_step(ddp_model, batch, optimizer, loss_fn):
    inputs, targets = batch
    optimizer.zero_grad()
    loss = loss_fn(ddp_model(inputs), targets)
    loss.backward()
    optimizer.step()
    total = loss.detach().clone()
    dist.all_reduce(total)
    return total.item() / dist.get_world_size()
