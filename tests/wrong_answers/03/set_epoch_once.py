"""
symptom: all epochs after a restart have the same order
source: own (right on the first epoch only)
exercise: 3.3
says: not called for this epoch
"""
def run_epochs(loader, epochs, *, start_epoch=0):
    if hasattr(loader.sampler, "set_epoch"):
        loader.sampler.set_epoch(start_epoch)
    for epoch in range(start_epoch, epochs):
        for batch in loader:
            yield epoch, batch
