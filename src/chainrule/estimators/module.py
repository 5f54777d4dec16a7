"""Any torch module as a classifier or a regressor.

NetworkClassifier(nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3)))
NetworkRegressor(nn.Linear)                    a function of (inputs, outputs) makes the module
NetworkClassifier(lambda: network)             so does one of nothing; a copy is trained

X may have more axes than two, such as (n, channels, height, width): the module gets that shape.
"""

import copy
import inspect
from collections.abc import Callable
from dataclasses import field
from typing import Any

import numpy as np
from torch import Tensor, nn

from chainrule.errors import InputError
from chainrule.estimators.base import estimator
from chainrule.estimators.network import NetworkEstimator, OneNetwork
from chainrule.estimators.network_classifier import BaseNetworkClassifier
from chainrule.estimators.network_regressor import BaseNetworkRegressor


@estimator
class OwnModule(OneNetwork, NetworkEstimator):
    """One network of the user's own."""

    module: nn.Module | Callable[..., nn.Module] | None = field(default=None, kw_only=False)
    """A module, of which a copy is trained, or a function (inputs, outputs), or of nothing,
    that makes one."""

    def _rows(self, X: Any, reset: bool) -> Any:
        shape = tuple(X.shape[1:]) if getattr(X, "ndim", 2) > 2 else None
        if reset:
            self._shape = shape
        elif shape not in (None, self._shape):
            raise InputError(f"expected examples of shape {self._shape}, as in fit, got {shape}")
        return X if shape is None else np.asarray(X).reshape(len(X), -1)

    def _build(self, inputs: int, outputs: int) -> nn.Module:
        made = self._made(inputs, outputs)
        return made if self._shape is None else InShape(made, self._shape)

    def _made(self, inputs: int, outputs: int) -> nn.Module:
        if self.module is None:
            raise InputError(
                f"expected a `module` with {inputs} inputs and {outputs} outputs, or a function "
                "(inputs, outputs) that makes one, got none"
            )
        if isinstance(self.module, nn.Module):
            return copy.deepcopy(self.module)
        return made_by(self.module, inputs, outputs)


def made_by(factory: Callable[..., Any], inputs: int, outputs: int) -> nn.Module:
    """The module that a function of (inputs, outputs), or of nothing, makes."""
    fitting = [sizes for sizes in ((inputs, outputs), ()) if takes(factory, sizes)]
    if not fitting:
        name = getattr(factory, "__qualname__", type(factory).__name__)
        raise InputError(
            "expected as `module` a module, or a function (inputs, outputs) or () that makes one; "
            f"{name} takes other arguments"
        )
    made = factory(*fitting[0])
    if not isinstance(made, nn.Module):
        raise InputError(f"expected a function that makes a module as `module`, it made {made!r}")
    return copy.deepcopy(made)


def takes(factory: Callable[..., Any], values: tuple[int, ...]) -> bool:
    """Whether a function can be called with these values."""
    try:
        inspect.signature(factory).bind(*values)
    except (TypeError, ValueError):
        return False
    return True


class InShape(nn.Module):
    """A network that takes rows as examples of its own shape.

    Args:
        network: takes (batch, *shape).
        shape: of an example.
    """

    def __init__(self, network: nn.Module, shape: tuple[int, ...]):
        super().__init__()
        self.network, self.shape = network, shape

    def forward(self, x: Tensor) -> Tensor:
        return self.network(x.reshape(len(x), *self.shape))


@estimator
class NetworkClassifier(OwnModule, BaseNetworkClassifier):
    """A module of one's own with a logit for each class.

    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> from torch import nn
    >>> module = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3))
    >>> model = NetworkClassifier(module, max_iter=60, learning_rate_init=0.01, random_state=0)
    >>> model.fit(X, y).score(X, y) > 0.9
    True
    """


@estimator
class NetworkRegressor(OwnModule, BaseNetworkRegressor):
    """A module of one's own with an output for each target.

    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> from torch import nn
    >>> model = NetworkRegressor(lambda inputs, outputs: nn.Linear(inputs, outputs), max_iter=20)
    >>> model.fit(X, y).predict(X[:2]).shape
    (2,)
    """
