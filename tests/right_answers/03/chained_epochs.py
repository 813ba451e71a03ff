"""
why: iterators of epochs are chained
exercise: 3.3
"""
import itertools


def _epoch(loader, epoch):
    try:
        loader.sampler.set_epoch(epoch)
    except AttributeError:
        pass
    return zip(itertools.repeat(epoch), loader)


def run_epochs(loader, epochs, *, start_epoch=0):
    return itertools.chain.from_iterable(_epoch(loader, epoch) for epoch in range(start_epoch, epochs))
