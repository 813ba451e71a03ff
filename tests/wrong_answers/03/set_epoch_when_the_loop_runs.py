"""
symptom: every epoch has the order of the one before
source: own
exercise: 3.3
says: order of the epoch before
"""
def run_epochs(loader, epochs, *, start_epoch=0):
    for epoch in range(start_epoch, epochs):
        for number, batch in enumerate(loader):
            if number == 0 and hasattr(loader.sampler, "set_epoch"):
                loader.sampler.set_epoch(epoch)
            yield epoch, batch
