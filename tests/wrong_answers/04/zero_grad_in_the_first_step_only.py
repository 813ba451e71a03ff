"""
symptom: gradients pile up from the second step on
source: own (kind: first step only)
exercise: 4.4
says: left over from one step to the next
"""
_started = []


def train_step(ddp_model, batch, optimizer, loss_fn):
    inputs, targets = batch
    if not _started:
        optimizer.zero_grad()
        _started.append(True)
    loss = loss_fn(ddp_model(inputs), targets)
    loss.backward()
    optimizer.step()
    return loss.item()
