"""
symptom: only the first epoch has batches
source: own
exercise: 3.3
says: used up after the first
"""
def run_epochs(loader, epochs, *, start_epoch=0):
    batches = iter(loader)
    for epoch in range(start_epoch, epochs):
        if hasattr(loader.sampler, "set_epoch"):
            loader.sampler.set_epoch(epoch)
        for batch in batches:
            yield epoch, batch
