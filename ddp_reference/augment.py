"""Augmentation on the device, for a whole batch at once (lesson 03)."""

import torch
import torch.nn.functional as F
from torch import Tensor


def draw_shifts(n: int, max_shift: int, generator: torch.Generator) -> Tensor:
    """One shift for each sample of the data set, so that it does not matter which rank has it.

    Returns:
        Shape (n, 2), int64, rows and columns in pixels, from -max_shift to max_shift.
    """
    return torch.randint(-max_shift, max_shift + 1, (n, 2), generator=generator)


def shift_images(images: Tensor, shifts: Tensor) -> Tensor:
    """Move each image down and right by its own number of pixels; what comes in is zero.

    A loop over images would start thousands of tiny operations. This starts a handful, whatever
    the batch size.

    Args:
        images: Shape (b, c, h, w), of any dtype.
        shifts: Shape (b, 2), int64, rows and columns in pixels, on the same device.

    Returns:
        A new tensor like images.
    """
    b, c, h, w = (torch.arange(length, device=images.device) for length in images.shape)
    padded = F.pad(images, (1, 1, 1, 1))
    # Where each pixel comes from. Everything outside lands on the border of zeros.
    rows = (h - shifts[:, :1] + 1).clamp(0, len(h) + 1)
    columns = (w - shifts[:, 1:] + 1).clamp(0, len(w) + 1)
    return padded[
        b[:, None, None, None],
        c[None, :, None, None],
        rows[:, None, :, None],
        columns[:, None, None, :],
    ]
