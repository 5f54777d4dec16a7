"""A small MNIST network learns from a large one, beside the same network on labels alone.

    chainrule train mnist-ensemble --out runs/teacher
    chainrule train mnist-distill --teacher runs/teacher

Hinton, Vinyals and Dean (2015). Notes: J 8.9.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from torch import nn

from chainrule.data.datasets import mnist
from chainrule.data.splits import Splits
from chainrule.errors import InputError
from chainrule.models.feedforward.mlp import MLP
from chainrule.runs.recipe import Figures, Task, Trained, task_of


@dataclass(frozen=True, kw_only=True)
class Recipe(Trained):
    """784-32-10, taught."""

    notes: ClassVar[str] = "J 8.9"

    hidden: tuple[int, ...] = (32,)
    """Widths of the student's hidden layers."""
    epochs: int = 30
    schedule: str = "one-cycle"
    learning_rate: float = 5e-3

    def data(self, folder: Path | None) -> Splits:
        if not self.teacher:
            raise InputError(
                "mnist-distill needs a teacher: chainrule train mnist-ensemble --out runs/teacher, "
                "then --teacher runs/teacher"
            )
        return mnist.load(folder, self.seed)

    def model(self, task: Task) -> nn.Module:
        return MLP(task.inputs, self.hidden, task.outputs)

    def compare(self, data: Splits) -> dict[str, Figures]:
        from chainrule.runs.run import build

        alone = replace(self, teacher="")
        model = build(alone, task_of(data))
        for _ in Trained.learn(alone, model, data, None, "cpu"):
            pass
        return {"the same network on labels alone": self.measure(model, data)}
