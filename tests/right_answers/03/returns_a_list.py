"""
why: all batches at once; wasteful, but every one is right
exercise: 3.3
"""
def run_epochs(loader, epochs, *, start_epoch=0):
    result = []
    for epoch in range(start_epoch, epochs):
        set_epoch = getattr(loader.sampler, "set_epoch", None)
        if set_epoch is not None:
            set_epoch(epoch)
        result.extend([epoch, batch] for batch in loader)
    return result
