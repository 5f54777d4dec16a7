"""Learning from another run: its answers as further targets, its weights as a beginning.

Notes: J 8.9 (distillation), A 1.0.2 (transfer learning), J 6.5 (fine-tuning).
"""

import fnmatch
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from torch import Tensor, nn

from chainrule.errors import InputError
from chainrule.learning.distillation import distillation_loss
from chainrule.learning.tasks import Objective
from chainrule.training import outputs

if TYPE_CHECKING:
    from chainrule.runs.recipe import Trained


def taught(
    teacher: Path, train: tuple[Tensor, ...], objective: Objective, settings: "Trained"
) -> tuple[tuple[Tensor, ...], Objective]:
    """The training split with the teacher's logits as second target, and a loss that uses them."""
    from chainrule.runs.run import open_model

    _, model, task = open_model(teacher)
    x, y = train
    if not task.classes or tuple(x.shape[1:]) != task.shape:
        raise InputError(
            f"the teacher {teacher} takes inputs of shape {task.shape} and knows "
            f"{len(task.classes)} classes; expected a classifier of inputs {tuple(x.shape[1:])}"
        )
    loss = distillation_loss(settings.temperature, settings.teacher_share)
    return (x, y, outputs(model, (x,))), replace(objective, training_loss=loss)


def inherit(model: nn.Module, run: Path) -> None:
    """Begin with the run's weights wherever name and shape agree; another head stays new."""
    from chainrule.training import checkpoint

    tensors, _ = checkpoint.load(run / "model.safetensors")
    own = model.state_dict()
    fitting = {name: t for name, t in tensors.items() if name in own and own[name].shape == t.shape}
    if not fitting:
        raise InputError(f"no weight of {run} fits this network in name and shape")
    model.load_state_dict(fitting, strict=False)


def freeze(model: nn.Module, pattern: str) -> None:
    """Keep the parameters whose names match the pattern as they are."""
    names = [name for name, _ in model.named_parameters()]
    chosen = fnmatch.filter(names, pattern)
    if not chosen:
        raise InputError(f"--freeze {pattern} matches none of: {', '.join(names)}")
    for name, parameter in model.named_parameters():
        if name in chosen:
            parameter.requires_grad_(False)
