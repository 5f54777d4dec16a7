"""Learning from a teacher: a finished run's answers become further targets."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from torch import Tensor

from chainrule.errors import InputError
from chainrule.learning.distillation import distilling
from chainrule.learning.objective import Objective
from chainrule.training import outputs

if TYPE_CHECKING:
    from chainrule.recipes.base import Trained


def taught(
    teacher: Path, train: tuple[Tensor, ...], objective: Objective, settings: "Trained"
) -> tuple[tuple[Tensor, ...], Objective]:
    """The training split with the teacher's logits as second target, and a loss that uses them."""
    from chainrule.recipes.running import open_model

    _, model, task = open_model(teacher)
    x, y = train
    if not task.classes or tuple(x.shape[1:]) != task.shape:
        raise InputError(
            f"the teacher {teacher} takes inputs of shape {task.shape} and knows "
            f"{len(task.classes)} classes; expected a classifier of inputs {tuple(x.shape[1:])}"
        )
    loss = distilling(settings.temperature, settings.teacher_share)
    return (x, y, outputs(model, (x,))), replace(objective, training_loss=loss)
