"""Sequences as the X of an estimator: rows of steps one after another, or (n, steps, features)."""

from typing import Any

import numpy as np
from torch import Tensor, nn

from chainrule.arguments import Count
from chainrule.errors import InputError
from chainrule.estimators.base import estimator
from chainrule.estimators.network import NetworkEstimator, OneNetwork


@estimator
class SequenceEstimator(OneNetwork, NetworkEstimator):
    """One network of sequences."""

    steps: Count | None = None
    """Steps of a sequence, which lie one after another in a row; None: each feature is a step. An
    X of (n, steps, features) brings its own."""

    def _rows(self, X: Any, reset: bool) -> Any:
        if getattr(X, "ndim", 2) != 3:
            if reset:
                self._steps = self.steps
            return X
        X = np.asarray(X)
        if reset:
            self._steps = X.shape[1]
        known = self._steps_in(self.n_features_in_) if not reset else X.shape[1]
        if X.shape[1] != known or self.steps not in (None, known):
            raise InputError(f"expected sequences of {self.steps or known} `steps`, got {X.shape}")
        return X.reshape(len(X), -1)

    def _steps_in(self, inputs: int) -> int:
        """The steps of a row of so many features."""
        steps = inputs if self._steps is None else self._steps
        if inputs % steps:
            raise InputError(f"`steps` {steps} does not divide the {inputs} features of a row")
        return steps


class Sequences(nn.Module):
    """A network of sequences that takes them as rows.

    Args:
        network: takes (batch, steps, features).
        steps: of a sequence.
    """

    def __init__(self, network: nn.Module, steps: int):
        super().__init__()
        self.network, self.steps = network, steps

    def forward(self, x: Tensor) -> Tensor:
        return self.network(x.reshape(len(x), self.steps, -1))
