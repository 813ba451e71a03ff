"""
symptom: from the second epoch on, shards overlap
source: own
exercise: 3.3
says: rank 0 has the right order
"""
import torch.distributed as dist


def run_epochs(loader, epochs, *, start_epoch=0):
    for epoch in range(start_epoch, epochs):
        if dist.get_rank() == 0 and hasattr(loader.sampler, "set_epoch"):
            loader.sampler.set_epoch(epoch)
        for batch in loader:
            yield epoch, batch
