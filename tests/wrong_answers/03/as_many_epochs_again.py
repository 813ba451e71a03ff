"""
symptom: a resumed training runs too long
source: own
exercise: 3.3
says: how many are still to run
"""
def run_epochs(loader, epochs, *, start_epoch=0):
    for epoch in range(start_epoch, start_epoch + epochs):
        if hasattr(loader.sampler, "set_epoch"):
            loader.sampler.set_epoch(epoch)
        for batch in loader:
            yield epoch, batch
