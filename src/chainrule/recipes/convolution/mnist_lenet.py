"""MNIST by LeNet-5: 99 % right after five epochs.

Ten times fewer mistakes than softmax regression, with 61,706 parameters. LeCun et al. (1998),
Gradient-based learning applied to document recognition, prints 0.95 % test error without and 0.8 %
with distorted digits. Notes: J 4.2, A 2.1, L appendix.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from torch import nn

from chainrule.data.datasets import mnist
from chainrule.data.splits import Splits
from chainrule.models.convolution.lenet import LeNet
from chainrule.runs.recipe import Published, Task, Trained


@dataclass(frozen=True, kw_only=True)
class Recipe(Trained):
    """6 and 16 kernels of 5 × 5, then 120-84-10."""

    notes: ClassVar[str] = "J 4.2, A 2.1, L appendix"
    published: ClassVar[tuple[Published, ...]] = (
        Published("test error", 0.0095, "LeCun et al. (1998)"),
    )

    epochs: int = 5
    batch_size: int = 64
    optimizer: str = "adamw"
    schedule: str = "one-cycle"
    learning_rate: float = 4e-3
    weight_decay: float = 0.05

    def data(self, folder: Path | None) -> Splits:
        return mnist.load(folder, self.seed)

    def model(self, task: Task) -> nn.Module:
        channels, height, width = task.shape
        return LeNet((channels, height, width), task.outputs)
