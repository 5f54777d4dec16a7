"""Checks of a loss of the user's own before the first step.

Outputs (n, 1) and targets (n,) broadcast to all n² pairs, which trains towards the mean of all
targets without a word; torch only warns, and not everywhere. So two examples with unlike targets
are tried: a loss that does not notice when the targets are exchanged does not compare pairs.
"""

import warnings
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from chainrule.arguments import RAW
from chainrule.errors import InputError
from chainrule.learning.losses import Loss

BROADCAST = "that is different to the input size"  # of torch's warning


def loss_of(loss: Loss, output: Any, targets: Sequence[Tensor]) -> Tensor:
    """The loss of a batch of one; its failure in one sentence."""
    try:
        with warnings.catch_warnings(record=True) as said, torch.no_grad():
            warnings.simplefilter("always")
            found = loss(output, *targets)
    except InputError as error:
        if isinstance(output, Tensor):
            raise
        raise InputError(f"{described(loss, output, targets)}{remedy(output, targets)}") from error
    except (ValueError, *RAW) as error:
        reason = next(iter(str(error).splitlines()), type(error).__name__)
        raise InputError(
            f"{described(loss, output, targets)}: {reason}{remedy(output, targets)}"
        ) from (error)
    if any(BROADCAST in str(one.message) for one in said) or compares_all_pairs(
        loss, output, targets
    ):
        raise InputError(
            f"{described(loss, output, targets)} one to one, but every output with every target"
            f"{remedy(output, targets)}"
        )
    if not isinstance(found, Tensor):
        raise InputError(f"expected a tensor from the loss, got {type(found).__name__}")
    return found


def described(loss: Loss, output: Any, targets: Sequence[Tensor]) -> str:
    """Which loss cannot compare which shapes."""
    name = getattr(loss, "__name__", type(loss).__name__)
    shapes = " and ".join(str(tuple(t.shape[1:])) for t in targets)
    return f"the loss {name} does not compare {outputs_in_words(output)} with targets {shapes}"


def outputs_in_words(output: Any) -> str:
    if isinstance(output, Tensor):
        return f"outputs of shape {tuple(output.shape[1:])}"
    return f"the model's output, a {type(output).__name__},"


def remedy(output: Any, targets: Sequence[Tensor]) -> str:
    """What to do where the model gives one number in a row of its own."""
    if not isinstance(output, Tensor):
        return "; give a `loss` (output, target) that takes such outputs"
    if one_number(output, targets):
        return "; give targets y[:, None], or compare with output[:, 0]"
    return ""


def one_number(output: Any, targets: Sequence[Tensor]) -> bool:
    """Whether outputs are (n, 1) and their only targets (n,)."""
    column = isinstance(output, Tensor) and output.ndim == 2 and output.shape[1] == 1
    return column and len(targets) == 1 and targets[0].ndim == 1


def compares_all_pairs(loss: Loss, output: Any, targets: Sequence[Tensor]) -> bool:
    """Whether two targets may be exchanged without the loss of two outputs noticing."""
    if not one_number(output, targets):
        return False
    two = torch.tensor([0.0, 1.0])
    outputs, y = two[:, None].to(output.dtype), two.to(targets[0].dtype)
    try:
        with warnings.catch_warnings(action="ignore"), torch.no_grad():
            there, back, other = (loss(outputs, t) for t in (y, y.flip(0), elsewhere(y)))
    except Exception:  # of a loss that takes other numbers; its own are tried elsewhere
        return False
    return there.numel() == 4 or (there.ndim == 0 and bool(there == back) and bool(there != other))


def elsewhere(y: Tensor) -> Tensor:
    """Other targets, which every loss that looks at its targets tells from 0 and 1."""
    return torch.full_like(y, 0.25 if y.is_floating_point() else 3)
