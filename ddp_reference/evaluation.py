"""Exact evaluation, whatever the numbers of samples and ranks (lesson 07).

DistributedSampler would repeat samples until all ranks have equally many, and they would count
twice. Here the shares may differ by one sample, and nothing in the loop waits for another rank.
"""

from dataclasses import dataclass

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

from ddp_reference.data import Data
from ddp_reference.groups import World

BATCH = 512  # samples of one rank at a time; only memory limits it


@dataclass(frozen=True)
class Score:
    """What a model does on a data set, the same numbers on every rank.

    Attributes:
        correct, samples: Counts over all ranks.
        loss: The mean cross-entropy of a sample, in nats.
    """

    correct: int
    samples: int
    loss: float

    @property
    def accuracy(self) -> float:
        """From 0 to 1."""
        return self.correct / self.samples


def evaluate(model: nn.Module, data: Data, world: World) -> Score:
    """Count correct answers on the test set. All ranks call it, and each judges its own share.

    Args:
        model: The model itself, not its DDP wrapper: the wrapper's forward sends buffers, so that
            a rank with one batch less would leave the others waiting.
    """
    # Each rank's BatchNorm statistics have seen its own last batch. Rank 0's are those that are
    # saved, so they are those that are judged.
    for buffer in model.buffers():
        dist.broadcast(buffer, src=0)
    images, labels = (t[world.rank :: world.size] for t in (data.test.pixels, data.test.labels))
    # int64 and float64: sums that neither overflow nor lose a sample. Mean of means would be wrong
    # for shares of unequal size.
    correct = torch.zeros((), dtype=torch.int64, device=world.device)
    loss = torch.zeros((), dtype=torch.float64, device=world.device)
    was_training = model.training
    model.eval()
    with torch.inference_mode():
        for start in range(0, len(labels), BATCH):
            expected = labels[start : start + BATCH]
            logits = model(data.normalise(images[start : start + BATCH]))
            correct += (logits.argmax(1) == expected).sum()
            loss += F.cross_entropy(logits, expected, reduction="sum")
    model.train(was_training)
    dist.all_reduce(correct)
    dist.all_reduce(loss)
    return Score(int(correct), len(data.test), loss.item() / len(data.test))
