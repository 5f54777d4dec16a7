"""CIFAR-10 by four convolutional layers, batch-normalized, on shifted and mirrored images.

The notes report about 75 % for four layers; batch normalization, augmentation and the one-cycle
schedule add what is above. `cifar10-resnet20` goes on from here. Notes: A 2.2.3, J 4.2, L appendix.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from torch import nn

from chainrule.data.datasets import cifar10
from chainrule.data.splits import Splits
from chainrule.learning.augmentation import compose, horizontal_flip, random_crop
from chainrule.learning.tasks import Objective
from chainrule.models.convolution.cnn import CNN
from chainrule.nn.standardized import Standardized
from chainrule.runs.recipe import Published, Task, Trained, objective_of


@dataclass(frozen=True, kw_only=True)
class Recipe(Trained):
    """32, 64, 128 and 256 kernels of 3 × 3, each layer followed by max pooling, then 10 logits."""

    notes: ClassVar[str] = "A 2.2.3, J 4.2, L appendix"
    published: ClassVar[tuple[Published, ...]] = (Published("test error", 0.25, "A 2.2.3, about"),)

    filters: tuple[int, ...] = (32, 64, 128, 256)
    """Kernels of each layer."""
    padding: int = 4
    """Largest shift in pixels."""
    epochs: int = 12
    optimizer: str = "nesterov"
    schedule: str = "one-cycle"
    learning_rate: float = 0.05
    weight_decay: float = 5e-4

    def data(self, folder: Path | None) -> Splits:
        return cifar10.load(folder, self.seed)

    def model(self, task: Task) -> nn.Module:
        channels, height, width = task.shape
        network = CNN((channels, height, width), self.filters, task.outputs, norm="batch")
        return Standardized(network, cifar10.MEAN, cifar10.SPREAD)

    def objective(self, data: Splits) -> Objective:
        augment = compose(random_crop(self.padding), horizontal_flip())
        return replace(objective_of(data), augment=augment)
