"""Any torch module as a classifier or a regressor.

NetworkClassifier(nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3)))
NetworkRegressor(nn.Linear)                    a function of (inputs, outputs) makes the module
"""

import copy
from collections.abc import Callable
from dataclasses import field

from torch import nn

from chainrule.errors import InputError
from chainrule.estimators.base import estimator
from chainrule.estimators.network import NetworkEstimator, OneNetwork
from chainrule.estimators.network_classifier import BaseNetworkClassifier
from chainrule.estimators.network_regressor import BaseNetworkRegressor


@estimator
class OwnModule(OneNetwork, NetworkEstimator):
    """One network of the user's own."""

    module: nn.Module | Callable[..., nn.Module] | None = field(default=None, kw_only=False)
    """A module, of which a copy is trained, or a function (inputs, outputs) that makes one."""

    def _build(self, inputs: int, outputs: int) -> nn.Module:
        if self.module is None:
            raise InputError(
                f"expected a `module` with {inputs} inputs and {outputs} outputs, or a function "
                "(inputs, outputs) that makes one, got none"
            )
        if isinstance(self.module, nn.Module):
            return copy.deepcopy(self.module)
        return self.module(inputs, outputs)


@estimator
class NetworkClassifier(OwnModule, BaseNetworkClassifier):
    """A module of one's own with a logit for each class."""


@estimator
class NetworkRegressor(OwnModule, BaseNetworkRegressor):
    """A module of one's own with an output for each target."""
