"""
symptom: gradients never synchronised
source: course list of mistakes
exercise: 4.4
says: the forward went past the wrapper
"""
def train_step(ddp_model, batch, optimizer, loss_fn):
    inputs, targets = batch
    optimizer.zero_grad()
    loss = loss_fn(ddp_model.module(inputs), targets)
    loss.backward()
    optimizer.step()
    return loss.item()
