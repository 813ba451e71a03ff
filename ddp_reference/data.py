"""Data sets that fit into memory live on the device as tensors (lesson 03).

Batches are then picked there by index. No worker processes, no copies from host to device: for
small images this is many times faster than a DataLoader. They stay uint8, a quarter of the memory
of float32, and are normalised one batch at a time.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from ddp_reference.augment import draw_shifts, shift_images
from ddp_reference.config import Config
from ddp_reference.errors import UserError
from ddp_reference.groups import World
from ddp_reference.sharding import epoch_generator, local_batches, shard

SPLIT_SEED = 0  # not the seed of the run: runs with different seeds stay comparable


@dataclass(frozen=True)
class Images:
    """Images with their labels, the same on every rank.

    Attributes:
        pixels: Shape (n, channels, height, width), uint8.
        labels: Shape (n,), int64.
    """

    pixels: Tensor
    labels: Tensor

    def __len__(self) -> int:
        return len(self.labels)

    def to(self, device: torch.device) -> "Images":
        return Images(self.pixels.to(device), self.labels.to(device))


@dataclass(frozen=True)
class Data:
    """A data set in two parts.

    Attributes:
        mean, std: Of the training pixels, for each channel, shape (channels, 1, 1), float32.
    """

    train: Images
    test: Images
    classes: int
    mean: Tensor
    std: Tensor

    @property
    def channels(self) -> int:
        return self.train.pixels.shape[1]

    def normalise(self, pixels: Tensor) -> Tensor:
        """From uint8 to float32 of mean 0 and variance 1."""
        return (pixels - self.mean) / self.std


def digits() -> tuple[Images, Images]:
    """1437 and 360 handwritten digits of 8x8 pixels, from scikit-learn. Nothing is downloaded."""
    from sklearn.datasets import load_digits  # a second to import, so only where it is needed

    bunch = load_digits()
    pixels = torch.tensor(bunch.images, dtype=torch.uint8).unsqueeze(1)
    labels = torch.tensor(bunch.target, dtype=torch.int64)
    # Neighbours in the file have the same writer: shuffle before cutting.
    order = torch.randperm(len(labels), generator=torch.Generator().manual_seed(SPLIT_SEED))
    test, train = order[:360], order[360:]
    return Images(pixels[train], labels[train]), Images(pixels[test], labels[test])


def synthetic() -> tuple[Images, Images]:
    """4096 and 1000 noisy images of 3x32x32 pixels in 10 classes, to measure speed with."""
    generator = torch.Generator().manual_seed(SPLIT_SEED)
    patterns = torch.rand(10, 3, 32, 32, generator=generator)

    def draw(n: int) -> Images:
        labels = torch.randint(10, (n,), generator=generator)
        noise = torch.rand(n, 3, 32, 32, generator=generator)
        return Images((127 * (patterns[labels] + noise)).to(torch.uint8), labels)

    return draw(4096), draw(1000)


DATASETS: dict[str, Callable[[], tuple[Images, Images]]] = {
    "digits": digits,
    "synthetic": synthetic,
}


def load_data(name: str, batch_size: int, device: torch.device) -> Data:
    """Load a data set onto the device. Every rank has all of it, and uses its share.

    Args:
        batch_size: Global, in samples; there must be one whole batch.

    Raises:
        UserError: The training part has fewer samples than one batch.
    """
    train, test = DATASETS[name]()
    if batch_size > len(train):
        raise UserError(f"--batch-size {batch_size} is more than the {len(train)} training samples of {name}")
    pixels = train.pixels.float()
    mean, std = pixels.mean((0, 2, 3)), pixels.std((0, 2, 3))
    return Data(
        train=train.to(device),
        test=test.to(device),
        classes=int(train.labels.max()) + 1,
        mean=mean[:, None, None].to(device),
        std=std[:, None, None].to(device),
    )


def training_batches(data: Data, world: World, config: Config, epoch: int) -> Iterator[tuple[Tensor, Tensor]]:
    """This rank's share of one epoch: shuffled, cut into batches, augmented, normalised.

    Args:
        epoch: From 0.

    Yields:
        Images (batch_size / world size, channels, height, width), float32, and labels, int64.
    """
    generator = epoch_generator(config.seed, epoch)
    order = torch.randperm(len(data.train), generator=generator)
    shifts = draw_shifts(len(data.train), config.max_shift, generator).to(world.device)
    mine = shard(order, world.rank, world.size).to(world.device)
    for indices in local_batches(mine, config.batch_size // world.size):
        pixels = data.train.pixels[indices]
        if config.max_shift:
            pixels = shift_images(pixels, shifts[indices])
        yield data.normalise(pixels), data.train.labels[indices]
