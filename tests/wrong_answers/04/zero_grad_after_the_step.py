"""
symptom: the first step uses old gradients
source: own (kind: wrong in the first step only)
exercise: 4.4
says: old gradients were added
"""
def train_step(ddp_model, batch, optimizer, loss_fn):
    inputs, targets = batch
    loss = loss_fn(ddp_model(inputs), targets)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return loss.item()
