"""Distillation: learning from another run's outputs and the labels. Notes: J 8.9."""

from dataclasses import replace
from pathlib import Path

from torch import Tensor

from chainrule.errors import InputError
from chainrule.learning.distillation import distillation_loss
from chainrule.learning.tasks import Task
from chainrule.runs.options import RunOptions
from chainrule.training import outputs


def with_teacher(
    train: tuple[Tensor, ...], task: Task, options: RunOptions
) -> tuple[tuple[Tensor, ...], Task]:
    """The training split with the teacher's logits as second target, and a loss that uses them."""
    from chainrule.runs.run import Run

    teacher = Run.load(Path(options.teacher))
    summary, (x, y) = teacher.summary, train
    if not summary.classes or tuple(x.shape[1:]) != summary.shape:
        raise InputError(
            f"the teacher {options.teacher} takes inputs of shape {summary.shape} and knows "
            f"{len(summary.classes)} classes; expected a classifier of inputs {tuple(x.shape[1:])}"
        )
    loss = distillation_loss(options.temperature, options.teacher_share)
    return (x, y, outputs(teacher.model, (x,))), replace(task, training_loss=loss)
