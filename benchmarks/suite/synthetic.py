"""Data drawn from a seed, with something to learn: the same for every contender, no download."""

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor


class Labeled(NamedTuple):
    """Examples to train on, and some to look at afterwards."""

    x: Tensor
    y: Tensor
    held_x: Tensor
    held_y: Tensor


HELD = 2000


def images(
    count: int, shape: tuple[int, int, int], classes: int = 10, noise: float = 1.0
) -> Labeled:
    """Smooth prototypes, one for each class, shifted by a pixel or two, under noise."""
    generator = torch.Generator().manual_seed(0)
    channels, height, width = shape
    coarse = torch.randn(classes, channels, height // 4, width // 4, generator=generator)
    prototypes = F.interpolate(coarse, size=(height, width), mode="bilinear")
    total = count + min(count, HELD)
    y = torch.randint(classes, (total,), generator=generator)
    shifts = torch.randint(-2, 3, (total,), generator=generator)
    x = torch.empty(total, *shape)
    for shift in range(-2, 3):
        rows = shifts == shift
        x[rows] = prototypes.roll(shift, 3)[y[rows]]
    x += noise * torch.randn(x.shape, generator=generator)
    return Labeled(x[:count], y[:count], x[count:], y[count:])


def sequences(count: int, length: int, inputs: int, classes: int = 10) -> Labeled:
    """Noise around a class's direction, which shows in a fifth of the steps."""
    generator = torch.Generator().manual_seed(0)
    directions = torch.randn(classes, inputs, generator=generator)
    total = count + min(count, HELD)
    y = torch.randint(classes, (total,), generator=generator)
    shown = (torch.rand(total, length, 1, generator=generator) < 0.2).float()
    x = torch.randn(total, length, inputs, generator=generator) + shown * directions[y][:, None]
    return Labeled(x[:count], y[:count], x[count:], y[count:])


def text(tokens: int, vocabulary: int) -> Tensor:
    """A chain in which each token is followed by one of four."""
    generator = torch.Generator().manual_seed(0)
    following = torch.randint(vocabulary, (vocabulary, 4), generator=generator).tolist()
    choices = torch.randint(4, (tokens,), generator=generator).tolist()
    found = [0]
    for choice in choices[1:]:
        found.append(following[found[-1]][choice])
    return torch.tensor(found)
