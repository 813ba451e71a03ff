"""The model that is trained: a small network of our own, or one of torchvision's (lesson 04)."""

import difflib

import torch
from torch import Tensor, nn

from ddp_reference.errors import UserError


def small_cnn(channels: int, classes: int) -> nn.Module:
    """Three convolutions and a linear layer, for images of 8x8 pixels and more.

    No BatchNorm and no dropout: what it learns from a global batch does not depend on the number of ranks that
    share the batch.
    """
    model = nn.Sequential(
        nn.Conv2d(channels, 16, kernel_size=3, padding=1),
        nn.ReLU(),
        nn.Conv2d(16, 32, kernel_size=3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(32, 64, kernel_size=3, padding=1),
        nn.ReLU(),
        nn.AdaptiveMaxPool2d(2),
        nn.Flatten(),
        nn.Linear(64 * 2 * 2, classes),
    )
    # The layout that convolutions compute in: without it, each would convert back and forth.
    return model.to(memory_format=torch.channels_last)


class GreyToColour(nn.Module):
    """Repeats a single channel three times, for models that begin with three."""

    def forward(self, images: Tensor) -> Tensor:
        return images.expand(-1, 3, -1, -1)


def build_model(name: str, channels: int, classes: int, seed: int) -> nn.Module:
    """Make a model with random weights, the same on every rank.

    It takes images (b, channels, height, width) and gives logits (b, classes). Torchvision's models take 1 or 3
    channels. Raises UserError if there is no such model.
    """
    torch.manual_seed(seed)
    if name == "cnn":
        return small_cnn(channels, classes)
    from torchvision import models  # another second to import

    # These two return several outputs in training, for which this trainer has no loss.
    names = set(models.list_models(module=models)) - {"googlenet", "inception_v3"}
    if name not in names:
        close = " or ".join(difflib.get_close_matches(name, names)) or "resnet18"
        raise UserError(f"--model {name} is neither cnn nor a classification model of torchvision, such as {close}")
    model = models.get_model(name, weights=None, num_classes=classes)
    return nn.Sequential(GreyToColour(), model) if channels == 1 else model
