"""Arguments of `fit` as other libraries call them: refused with our word for them."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import nn
from torch.nn.parameter import UninitializedParameter

from chainrule.data.readers.given import as_tensors
from chainrule.errors import InputError

WORDS: Mapping[str, str] = {
    "early_stopping": "`patience`, the epochs without a better validation loss",
    "learning_rate_init": "`learning_rate`",
    "lr": "`learning_rate`",
    "max_epochs": "`epochs`",
    "max_iter": "`epochs`",
    "n_epochs": "`epochs`",
    "num_epochs": "`epochs`",
    "optimiser": "`optimizer`",
    "random_state": "`seed`",
    "scheduler": "`schedule`, a name or a function (step, steps) ↦ factor",
    "validation_data": "`validation`",
    "validation_split": "`validation`; chainrule.data.arrays(x, y) makes three splits",
    "verbose": "`progress`, True or False",
    "wd": "`weight_decay`",
}


def check_words(options: Mapping[str, Any]) -> None:
    """Refuse words of other libraries, and optimizers that are made already."""
    for name in options:
        if name in WORDS:
            raise InputError(f"there is no setting named {name!r}; it is called {WORDS[name]}")
    found = options.get("optimizer")
    if isinstance(found, torch.optim.Optimizer):
        raise InputError(
            "`fit` makes the `optimizer` itself: give its class, such as optimizer=torch.optim."
            f"{type(found).__name__}, and its rate as `learning_rate`"
        )


def as_given(
    model: nn.Module, data: Any, validation: Any = None, options: Mapping[str, Any] | None = None
) -> tuple[Any, Any]:
    """Training and validation data with tensors in place of arrays and frames.

    Args:
        model: that is trained.
        data: to train on.
        validation: to validate on.
        options: settings by name, whose words are checked.
    """
    check_words(options or {})
    single = [hasattr(part, "shape") for part in (data, validation)]
    if single[0]:
        more = ", and not as two arguments" if single[1] else ""
        raise InputError(f"expected inputs and targets together, fit(model, (x, y)){more}")
    dtype = real_numbers(model)
    return as_tensors(data, dtype), as_tensors(validation, dtype)


def real_numbers(model: nn.Module) -> torch.dtype:
    """The precision of a model's weights."""
    weights = (p for p in model.parameters() if not isinstance(p, UninitializedParameter))
    found = (p.dtype for p in weights if p.is_floating_point())
    return next(found, torch.get_default_dtype())
