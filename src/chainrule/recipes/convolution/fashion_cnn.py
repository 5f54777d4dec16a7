"""Fashion-MNIST by a convolutional network on shifted and mirrored clothes.

The network of `mnist-cnn`, half as wide again. The best of the authors' table of methods without
convolutions has 89.7 % right. Xiao, Rasul and Vollgraf (2017), arXiv:1708.07747.
Notes: J 4.2, L "Tricks of the trade".
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from torch import nn

from chainrule.data.datasets import fashion_mnist
from chainrule.data.splits import Splits
from chainrule.learning.augmentation import compose, horizontal_flip, random_crop
from chainrule.learning.tasks import Objective
from chainrule.models.convolution.cnn import CNN
from chainrule.runs.recipe import Published, Task, Trained, objective_of


@dataclass(frozen=True, kw_only=True)
class Recipe(Trained):
    """2 × 24, 2 × 48 and 2 × 96 kernels of 3 × 3 with batch normalization, then 10 logits."""

    notes: ClassVar[str] = "J 4.2, L 'Tricks of the trade'"
    published: ClassVar[tuple[Published, ...]] = (
        Published("test error", 0.103, "Xiao et al. (2017), support vectors"),
    )

    filters: tuple[int, ...] = (24, 48, 96)
    """Kernels in each of a stage's two convolutions, stage by stage."""
    dropout: float = 0.2
    """Share of features dropped after each stage."""
    padding: int = 2
    """Largest shift in pixels."""
    epochs: int = 10
    optimizer: str = "adamw"
    schedule: str = "one-cycle"
    learning_rate: float = 5e-3
    weight_decay: float = 0.05

    def data(self, folder: Path | None) -> Splits:
        return fashion_mnist.load(folder, self.seed)

    def model(self, task: Task) -> nn.Module:
        channels, height, width = task.shape
        stages = [(number, number) for number in self.filters]
        return CNN(
            (channels, height, width), stages, task.outputs, dropout=self.dropout, norm="batch"
        )

    def objective(self, data: Splits) -> Objective:
        augment = compose(random_crop(self.padding), horizontal_flip())
        return replace(objective_of(data), augment=augment)
