"""
symptom: a second run over the same loader begins with its last order
source: own
exercise: 3.3
says: epoch 9 again
"""
def run_epochs(loader, epochs, *, start_epoch=0):
    for epoch in range(start_epoch, epochs):
        if epoch and hasattr(loader.sampler, "set_epoch"):
            loader.sampler.set_epoch(epoch)
        for batch in loader:
            yield epoch, batch
