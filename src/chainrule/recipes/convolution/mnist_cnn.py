"""MNIST by a convolutional network on moving digits: half a percent of mistakes.

Three stages of two convolutions, and digits that are turned, scaled and shifted a little in every
step. Notes: A 2.2.3 ("well beyond 99 %"), L "Tricks of the trade", J 4.2.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from torch import nn

from chainrule.data.datasets import mnist
from chainrule.data.splits import Splits
from chainrule.learning.augmentation import affine
from chainrule.learning.tasks import Objective
from chainrule.models.convolution.cnn import CNN
from chainrule.runs.recipe import Published, Task, Trained, objective_of


@dataclass(frozen=True, kw_only=True)
class Recipe(Trained):
    """2 × 16, 2 × 32 and 2 × 64 kernels of 3 × 3 with batch normalization, then 10 logits."""

    notes: ClassVar[str] = "A 2.2.3, J 4.2, L 'Tricks of the trade'"
    published: ClassVar[tuple[Published, ...]] = (
        Published("test error", 0.01, "A 2.2.3: well below"),
    )

    filters: tuple[int, ...] = (16, 32, 64)
    """Kernels in each of a stage's two convolutions, stage by stage."""
    dropout: float = 0.1
    """Share of features dropped after each stage."""
    degrees: float = 10.0
    """Largest turn."""
    scaling: float = 0.1
    """Largest change of size."""
    shift: float = 0.07
    """Largest shift, as a share of the frame."""
    epochs: int = 20
    optimizer: str = "adamw"
    schedule: str = "one-cycle"
    learning_rate: float = 5e-3
    weight_decay: float = 0.05

    def data(self, folder: Path | None) -> Splits:
        return mnist.load(folder, self.seed)

    def model(self, task: Task) -> nn.Module:
        channels, height, width = task.shape
        stages = [(number, number) for number in self.filters]
        return CNN(
            (channels, height, width), stages, task.outputs, dropout=self.dropout, norm="batch"
        )

    def objective(self, data: Splits) -> Objective:
        return replace(objective_of(data), augment=affine(self.degrees, self.scaling, self.shift))
