"""
symptom: after an interruption the first orders come again
source: own
exercise: 3.3
says: since start_epoch
"""
def run_epochs(loader, epochs, *, start_epoch=0):
    for epoch in range(start_epoch, epochs):
        if hasattr(loader.sampler, "set_epoch"):
            loader.sampler.set_epoch(epoch - start_epoch)
        for batch in loader:
            yield epoch, batch
