"""The adding problem: over how many steps can each recurrent cell remember?

A sequence has two marked numbers, whose sum is the target; the cell must store the first until the
second and ignore all others. The constant prediction 1 has a root mean squared error of
√(1/6) = 0.41. Hochreiter and Schmidhuber (1997); as in Le, Jaitly and Hinton (2015).
Notes: J 5, J 5.1 (long-range dependencies).
"""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from torch import nn

from chainrule.data.datasets import adding
from chainrule.data.splits import Splits
from chainrule.learning.metrics import RMSE, Metric
from chainrule.learning.tasks import REGRESSION, Task
from chainrule.models.recurrent.recurrent import Recurrent
from chainrule.models.recurrent.sequence_classifier import SequenceClassifier
from chainrule.recipes.families.memory_task import MemoryTaskRecipe
from chainrule.training import Settings


@dataclass(frozen=True, kw_only=True)
class Recipe(MemoryTaskRecipe):
    """A number and a mark → a cell → the sum, after the last step."""

    reference: ClassVar[str] = "J 5, J 5.1"
    metric: ClassVar[Metric] = RMSE
    chance: ClassVar[float] = (1 / 6) ** 0.5
    solved: ClassVar[float] = 0.07

    lengths: tuple[int, ...] = (20, 50, 100, 200)
    """Sequence lengths."""
    settings: Settings = replace(MemoryTaskRecipe.settings, epochs=20, learning_rate=5e-3)

    def load(self, length: int) -> Splits:
        return adding.load(seed=self.seed, num_samples=self.num_samples, length=length)

    def with_head(self, layer: Recurrent, outputs: int) -> nn.Module:
        return SequenceClassifier(layer, outputs)

    def task(self, data: Any = None) -> Task:
        return replace(REGRESSION, metrics=(RMSE,))
