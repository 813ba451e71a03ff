"""
why: averages the gradients itself, so the forward may go past the wrapper
exercise: 4.4
"""
def train_step(ddp_model, batch, optimizer, loss_fn):
    model = ddp_model.module
    for parameter in model.parameters():
        parameter.grad = None
    loss = loss_fn(model(batch[0]), batch[1])
    loss.backward()
    average_gradients(model)
    optimizer.step()
    return float(loss)
