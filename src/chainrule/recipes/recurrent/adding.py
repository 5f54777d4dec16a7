"""Adding two marked numbers of a long sequence: how long can each cell remember?

The cell must keep the first marked number until the second comes, however far apart they are, and
pass over all others. Answering 1 whatever comes has a root mean squared error of √(1/6) = 0.41.
Hochreiter and Schmidhuber (1997); as in Le, Jaitly and Hinton (2015). Notes: J 5, J 5.1 (long-range
dependencies).
"""

from dataclasses import dataclass
from typing import ClassVar

from torch import nn

from chainrule.data.datasets import adding
from chainrule.data.splits import Splits
from chainrule.learning import losses, metrics
from chainrule.learning.tasks import Objective
from chainrule.models.recurrent.recurrent import Recurrent
from chainrule.models.recurrent.sequence_classifier import SequenceClassifier
from chainrule.recipes.families.memory_task import ByLength


@dataclass(frozen=True, kw_only=True)
class Recipe(ByLength):
    """A number and a mark → a cell → the sum, after the last step."""

    notes: ClassVar[str] = "J 5, J 5.1"
    metric: ClassVar[str] = "rmse"
    guessing: ClassVar[float] = (1 / 6) ** 0.5
    solved: ClassVar[float] = 0.07

    lengths: tuple[int, ...] = (20, 50, 100, 200)
    """Steps of a sequence."""
    epochs: int = 20
    learning_rate: float = 5e-3

    def load(self, length: int) -> Splits:
        return adding.load(seed=self.seed, num_samples=self.number, length=length)

    def answering(self, layer: Recurrent, outputs: int) -> nn.Module:
        return SequenceClassifier(layer, outputs)

    def objective(self) -> Objective:
        return Objective(losses.squared, {"rmse": metrics.rmse})
