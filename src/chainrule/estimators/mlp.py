"""The multi-layer perceptron as a classifier and as a regressor."""

from collections.abc import Sequence

import numpy as np

from chainrule.arguments import Count, Rate
from chainrule.estimators.base import estimator
from chainrule.estimators.network import NetworkEstimator, OneNetwork
from chainrule.estimators.network_classifier import BaseNetworkClassifier
from chainrule.estimators.network_regressor import BaseNetworkRegressor
from chainrule.models.feedforward.mlp import MLP


@estimator
class Perceptrons(NetworkEstimator):
    """Multi-layer perceptrons of the same shape."""

    hidden_layer_sizes: Count | Sequence[Count] = (100,)
    """Units of each hidden layer."""
    activation: str = "relu"
    """relu, tanh, sigmoid, gelu, …"""
    dropout: Rate = 0.0
    """Dropout probability of the hidden units."""

    def _build(self, inputs: int, outputs: int) -> MLP:
        hidden = [int(width) for width in np.atleast_1d(self.hidden_layer_sizes)]
        return MLP(inputs, hidden, outputs, self.activation, self.dropout)


@estimator
class MLPClassifier(OneNetwork, Perceptrons, BaseNetworkClassifier):
    """A multi-layer perceptron with a softmax output."""


@estimator
class MLPRegressor(OneNetwork, Perceptrons, BaseNetworkRegressor):
    """A multi-layer perceptron with a linear output."""
