"""MNIST by LeNet-5: 99 % accuracy after five epochs.

A tenth of the test error of softmax regression, with 61,706 parameters. LeCun et al. (1998),
Gradient-based learning applied to document recognition, reports 0.95 % test error without and 0.8 %
with distorted digits. Notes: J 4.2, A 2.1, L appendix.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from torch import nn

from chainrule.data.datasets import mnist
from chainrule.data.splits import Splits
from chainrule.models.convolution.lenet import LeNet
from chainrule.runs.recipe import BaseRecipe, DataSummary, Published
from chainrule.training import Settings


@dataclass(frozen=True, kw_only=True)
class Recipe(BaseRecipe):
    """6 and 16 kernels of 5 × 5, then 120-84-10."""

    reference: ClassVar[str] = "J 4.2, A 2.1, L appendix"
    published: ClassVar[tuple[Published, ...]] = (
        Published("test error", 0.0095, "LeCun et al. (1998)"),
    )

    settings: Settings = Settings(
        epochs=5,
        batch_size=64,
        optimizer="adamw",
        schedule="one-cycle",
        learning_rate=4e-3,
        weight_decay=0.05,
    )

    def data(self, folder: Path | None) -> Splits:
        return mnist.load(folder, self.seed)

    def model(self, summary: DataSummary) -> nn.Module:
        channels, height, width = summary.shape
        return LeNet((channels, height, width), summary.outputs)
