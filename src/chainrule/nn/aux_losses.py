"""What a layer adds to the loss beside the model's output, such as a penalty on what it computed.

    loss of an example  =  ℓ(f(x), y) + Σ of the terms that layers added for x

A training step listens while the model runs; at other times `add_to_loss` does nothing, so the
losses of the validation and test splits are free of such terms. Networks that are trained many at
once run under vmap, where nobody can listen.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import torch
from jaxtyping import Float
from torch import Tensor

from chainrule.errors import InputError

TERMS: ContextVar[list[Tensor] | None] = ContextVar("TERMS", default=None)


def add_to_loss(term: Float[Tensor, " batch"]) -> None:
    """One value per example, heard by the training step that runs the model, if one does."""
    terms = TERMS.get()
    if terms is not None:
        terms.append(term)
    elif torch._C._functorch.is_batchedtensor(term):
        raise InputError(
            "a layer adds a term of its own to the loss, which networks trained many at once "
            "cannot do; train the members one by one"
        )


@contextmanager
def listening() -> Iterator[list[Tensor]]:
    """The terms that are added meanwhile."""
    terms: list[Tensor] = []
    token = TERMS.set(terms)
    try:
        yield terms
    finally:
        TERMS.reset(token)
