"""Data sets that fit into memory live on the device as tensors (lesson 03).

Batches are picked there by index. No worker processes, no copies from host to device: for small images this is
many times faster than a DataLoader. They stay uint8, a quarter of the memory of float32, and are normalised one
batch at a time.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.utils.data import TensorDataset

from ddp_reference.config import Config
from ddp_reference.errors import UserError
from ddp_reference.groups import World
from ddp_reference.sharding import epoch_order, local_batches, shard

SPLIT_SEED = 0  # not the seed of the run: runs with different seeds stay comparable


@dataclass(frozen=True)
class Data:
    """A data set on one device. Each part has pixels (n, channels, height, width), uint8, and labels (n,), int64."""

    train: TensorDataset
    test: TensorDataset
    classes: int
    mean: Tensor  # of the training pixels, for each channel, (channels, 1, 1), float32
    std: Tensor

    def normalise(self, pixels: Tensor) -> Tensor:
        """From uint8 to float32 of mean 0 and variance 1."""
        return (pixels - self.mean) / self.std


def digits() -> tuple[TensorDataset, TensorDataset]:
    """1437 and 360 handwritten digits of 8x8 pixels, from scikit-learn. Nothing is downloaded."""
    from sklearn.datasets import load_digits  # a second to import, so only where it is needed

    bunch = load_digits()
    pixels = torch.tensor(bunch.images, dtype=torch.uint8).unsqueeze(1)
    labels = torch.tensor(bunch.target, dtype=torch.int64)
    # Neighbours in the file have the same writer: shuffle before cutting.
    order = torch.randperm(len(labels), generator=torch.Generator().manual_seed(SPLIT_SEED))
    test, train = order[:360], order[360:]
    return TensorDataset(pixels[train], labels[train]), TensorDataset(pixels[test], labels[test])


def synthetic() -> tuple[TensorDataset, TensorDataset]:
    """4096 and 1000 noisy images of 3x32x32 pixels in 10 classes, to measure speed with."""
    generator = torch.Generator().manual_seed(SPLIT_SEED)
    patterns = torch.rand(10, 3, 32, 32, generator=generator)

    def draw(n: int) -> TensorDataset:
        labels = torch.randint(10, (n,), generator=generator)
        noise = torch.rand(n, 3, 32, 32, generator=generator)
        return TensorDataset((127 * (patterns[labels] + noise)).to(torch.uint8), labels)

    return draw(4096), draw(1000)


DATASETS = {"digits": digits, "synthetic": synthetic}


def load_data(name: str, batch_size: int, device: torch.device) -> Data:
    """Load a data set onto the device. Every rank has all of it, and uses its share.

    Raises UserError if there are fewer training samples than the global batch has.
    """
    train, test = (TensorDataset(*(t.to(device) for t in part.tensors)) for part in DATASETS[name]())
    if batch_size > len(train):
        raise UserError(f"--batch-size {batch_size} is more than the {len(train)} training samples of {name}")
    pixels, labels = train.tensors
    std, mean = torch.std_mean(pixels.float(), (0, 2, 3))
    return Data(train, test, int(labels.max()) + 1, mean[:, None, None], std[:, None, None])


def training_batches(data: Data, world: World, config: Config, epoch: int) -> Iterator[tuple[Tensor, Tensor]]:
    """This rank's share of an epoch, from 0: shuffled, cut into batches, normalised.

    Yields images (batch_size / world size, channels, height, width), float32, and labels, int64.
    """
    pixels, labels = data.train.tensors
    mine = shard(epoch_order(len(labels), config.seed, epoch), world.rank, world.size).to(world.device)
    for indices in local_batches(mine, config.batch_size // world.size):
        yield data.normalise(pixels[indices]), labels[indices]
