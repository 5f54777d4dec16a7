"""Shared by the recipes on a user's images: they are standardized channel by channel."""

import torch
from torch import Tensor, nn

from chainrule.nn.standardized import Standardized

AT_ONCE = 1024  # images


def standardized(network: nn.Module, channels: int) -> Standardized:
    """The network on standardized images; `standardize` sets mean and spread."""
    return Standardized(network, [0.0] * channels, [1.0] * channels)


def standardize(model: nn.Module, x: Tensor) -> None:
    """Set mean and spread, of every member of an ensemble, by these images of bytes."""
    mean, spread = channel_statistics(x)
    for part in model.modules():
        if isinstance(part, Standardized):
            part.mean.copy_(mean[:, None, None])
            part.spread.copy_(spread[:, None, None])


def channel_statistics(x: Tensor) -> tuple[Tensor, Tensor]:
    """Mean and standard deviation of each channel, from exact counts of its 256 values."""
    counts = torch.zeros(x.shape[1], 256, dtype=torch.int64)
    for part in x.split(AT_ONCE):
        counts += torch.stack(
            [part[:, c].flatten().bincount(minlength=256) for c in range(len(counts))]
        )
    value, share = torch.arange(256) / 255, counts / counts.sum(1, keepdim=True)
    mean = (share * value).sum(1)
    spread = (share * (value - mean[:, None]) ** 2).sum(1).sqrt()
    return mean.float(), spread.clamp_min(1e-3).float()
