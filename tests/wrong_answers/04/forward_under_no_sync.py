"""
symptom: gradients never synchronised
source: own
exercise: 4.4
says: the forward went past the wrapper
"""
def train_step(ddp_model, batch, optimizer, loss_fn):
    inputs, targets = batch
    optimizer.zero_grad()
    with ddp_model.no_sync():
        loss = loss_fn(ddp_model(inputs), targets)
    loss.backward()
    optimizer.step()
    return loss.item()
