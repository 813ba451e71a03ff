"""
symptom: memory grows with each step
source: own
exercise: 4.4
says: the loss tensor was returned
"""
def train_step(ddp_model, batch, optimizer, loss_fn):
    inputs, targets = batch
    optimizer.zero_grad()
    loss = loss_fn(ddp_model(inputs), targets)
    loss.backward()
    optimizer.step()
    return loss
