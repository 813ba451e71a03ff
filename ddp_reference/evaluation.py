"""Exact evaluation, whatever the numbers of samples and ranks (lesson 07).

DistributedSampler would repeat samples until all ranks have equally many, and they would count twice. Here the
shares may differ by one sample, and nothing in the loop waits for another rank.
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
    """Result on the whole test set, the same on every rank."""

    accuracy: float  # from 0 to 1
    correct: int
    samples: int
    loss: float  # mean cross-entropy of a sample, in nats


def evaluate(model: nn.Module, data: Data, world: World) -> Score:
    """Judge the model on the test set. All ranks call it, and each judges its own share.

    `model` is not the DDP wrapper: the wrapper's forward may send buffers, and a rank with one batch less would
    leave the others waiting.
    """
    # Each rank's BatchNorm statistics have seen its own last batch. Rank 0's are those that are saved, so they
    # are those that are judged.
    for buffer in model.buffers():
        dist.broadcast(buffer, src=0)
    images, labels = (part[world.rank :: world.size] for part in data.test.tensors)
    # Sums, because a mean of means is wrong for unequal shares; in types that lose no sample.
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
    n = len(data.test)
    return Score(correct.item() / n, int(correct), n, loss.item() / n)
