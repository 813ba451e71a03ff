"""
symptom: AttributeError on a single process
source: own
exercise: 3.3
says: set_epoch was called without a look
"""
def run_epochs(loader, epochs, *, start_epoch=0):
    for epoch in range(start_epoch, epochs):
        loader.sampler.set_epoch(epoch)
        for batch in loader:
            yield epoch, batch
