"""
symptom: every epoch has the same order
source: course list of mistakes (set_epoch called on the dataset)
exercise: 3.3
says: order of epoch 0
"""
def run_epochs(loader, epochs, *, start_epoch=0):
    for epoch in range(start_epoch, epochs):
        if hasattr(loader.dataset, "set_epoch"):
            loader.dataset.set_epoch(epoch)
        for batch in loader:
            yield epoch, batch
