"""The copy-memory task: over how many steps can each recurrent cell remember?

Each cell reads ten symbols, waits, and must reproduce them; the error is the share of wrong
symbols, 87.5 % for guessing. Only the last ten steps enter the loss. A cell whose gates do not
depend on the state cannot count steps by itself, and gradients must pass through the whole pause.
Hochreiter and Schmidhuber (1997); as in Arjovsky, Shah and Bengio (2016), ICML.
Notes: J 5, J 5.1 (long-range dependencies).
"""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from chainrule.data.datasets import copy_memory
from chainrule.data.splits import Splits
from chainrule.learning.metrics import ERROR, Metric
from chainrule.learning.tasks import Task
from chainrule.models.recurrent.recurrent import Recurrent
from chainrule.models.recurrent.sequence_tagger import SequenceTagger
from chainrule.recipes.families.memory_task import MemoryTaskRecipe
from chainrule.training import Settings


def copying_loss(
    output: Float[Tensor, "batch steps symbols"], y: Int[Tensor, "batch copied"]
) -> Float[Tensor, " batch"]:
    """Mean cross-entropy of the symbols at the last steps."""
    logits = output[:, -y.shape[1] :].transpose(1, 2)
    return F.cross_entropy(logits, y, reduction="none").mean(1)


def copying_error(
    output: Float[Tensor, "batch steps symbols"], y: Int[Tensor, "batch copied"]
) -> float:
    """Share of symbols copied wrongly."""
    return (output[:, -y.shape[1] :].argmax(2) != y).double().mean().item()


@dataclass(frozen=True, kw_only=True)
class Recipe(MemoryTaskRecipe):
    """Ten one-hot inputs → a cell → one of eight symbols at each of the last ten steps."""

    reference: ClassVar[str] = "J 5, J 5.1"
    metric: ClassVar[Metric] = ERROR.computed_by(copying_error)
    chance: ClassVar[float] = 1 - 1 / copy_memory.SYMBOLS
    solved: ClassVar[float] = 0.01

    lengths: tuple[int, ...] = (1, 10, 30, 100)
    """Steps between the symbols and their recall."""
    settings: Settings = replace(MemoryTaskRecipe.settings, epochs=25, learning_rate=5e-3)

    def load(self, length: int) -> Splits:
        return copy_memory.load(seed=self.seed, num_samples=self.num_samples, length=length)

    def with_head(self, layer: Recurrent, outputs: int) -> nn.Module:
        return SequenceTagger(layer, outputs)

    def task(self, data: Any = None) -> Task:
        return Task("copying", copying_loss, (self.metric,))
