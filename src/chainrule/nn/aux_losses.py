"""Auxiliary losses: terms that a layer adds to the training loss, such as a penalty on its output.

    loss of an example  =  ℓ(f(x), y) + Σ of the terms that layers added for x

A training step collects the terms while the model runs. Otherwise `add_to_loss` does nothing, so
validation and test losses are free of them. Models trained many at once run under vmap, where the
terms cannot be collected.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import torch
from jaxtyping import Float
from torch import Tensor

from chainrule.errors import NotBatchableError

TERMS: ContextVar[list[Tensor] | None] = ContextVar("TERMS", default=None)


def add_to_loss(term: Float[Tensor, " batch"]) -> None:
    """Add one value per example to the loss of the training step that runs the model, if any."""
    terms = TERMS.get()
    if terms is not None:
        terms.append(term)
    elif torch._C._functorch.is_batchedtensor(term):
        raise NotBatchableError(
            "a layer adds an auxiliary loss, which models trained many at once cannot collect; "
            "train the members one by one"
        )


@contextmanager
def collect_aux_losses() -> Iterator[list[Tensor]]:
    """The terms added inside the `with` block."""
    terms: list[Tensor] = []
    token = TERMS.set(terms)
    try:
        yield terms
    finally:
        TERMS.reset(token)
