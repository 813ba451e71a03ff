"""
symptom: AttributeError: 'BatchSampler' object has no attribute 'set_epoch'
source: course list of mistakes
exercise: 3.3
says: something that does not have it
"""
def run_epochs(loader, epochs, *, start_epoch=0):
    for epoch in range(start_epoch, epochs):
        loader.batch_sampler.set_epoch(epoch)
        for batch in loader:
            yield epoch, batch
