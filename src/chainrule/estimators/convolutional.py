"""A convolutional network as a classifier of images, which are rows of X."""

import math
from collections.abc import Sequence

import torch.nn.functional as F
from torch import Tensor, nn

from chainrule.arguments import Count, Rate
from chainrule.errors import InputError
from chainrule.estimators.base import estimator
from chainrule.estimators.network import NetworkEstimator, OneNetwork
from chainrule.estimators.network_classifier import BaseNetworkClassifier
from chainrule.models.convolution.cnn import CNN


@estimator
class CNNClassifier(OneNetwork, BaseNetworkClassifier, NetworkEstimator):
    """Stages of convolutions and pooling, then an affine map to one logit for each class.

    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> model = CNNClassifier(image_shape=(8, 8), filters=(8,), max_iter=3, random_state=0)
    >>> model.fit(X / 16, y).predict(X[:3] / 16).shape
    (3,)
    """

    image_shape: Sequence[Count] | None = None
    """(channels, height, width) or (height, width) of the image in a row; None: the features fill a
    square of one channel, row by row, with zeros at its end."""
    filters: Sequence[Count] = (16,)
    """Filters of each stage, which ends in pooling that halves height and width."""
    kernel_size: Count = 3
    """Side of the kernels, an odd number."""
    dropout: Rate = 0.0
    """Dropout probability of the units."""

    def _build(self, inputs: int, outputs: int) -> nn.Module:
        shape = self.image_shape
        if shape is None:
            side = max(2 ** len(self.filters), math.ceil(math.sqrt(inputs)))
            shape = side, side
        elif math.prod(shape) != inputs or len(shape) not in (2, 3):
            raise InputError(
                f"`image_shape` {tuple(shape)} does not hold the {inputs} features of a row"
            )
        channels, height, width = (1, *shape)[-3:]
        image = int(channels), int(height), int(width)
        cnn = CNN(image, tuple(self.filters), outputs, (), self.kernel_size, self.dropout)
        return Images(cnn, image)


class Images(nn.Module):
    """A network of images that takes them as rows.

    Args:
        network: takes (batch, channels, height, width).
        shape: (channels, height, width).
    """

    def __init__(self, network: nn.Module, shape: tuple[int, int, int]):
        super().__init__()
        self.network, self.shape = network, shape

    def forward(self, x: Tensor) -> Tensor:
        missing = math.prod(self.shape) - x.shape[1]
        return self.network((F.pad(x, (0, missing)) if missing else x).view(-1, *self.shape))
