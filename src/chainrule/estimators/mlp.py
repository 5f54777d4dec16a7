"""The multi-layer perceptron as a classifier and as a regressor."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from sklearn.utils import Tags

from chainrule.arguments import Count, Rate
from chainrule.estimators.base import estimator
from chainrule.estimators.network import NetworkEstimator, OneNetwork
from chainrule.estimators.network_classifier import BaseNetworkClassifier
from chainrule.estimators.network_regressor import BaseNetworkRegressor
from chainrule.models.feedforward.mlp import MLP


@estimator
class Perceptrons(NetworkEstimator):
    """Multi-layer perceptrons of the same shape; X may be a sparse matrix."""

    hidden_layer_sizes: Count | Sequence[Count] = (100,)
    """Units of each hidden layer."""
    activation: str = "relu"
    """relu, tanh, sigmoid, gelu, …"""
    dropout: Rate = 0.0
    """Dropout probability of the hidden units."""

    _sparse: ClassVar[bool] = True

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _build(self, inputs: int, outputs: int) -> MLP:
        hidden = [int(width) for width in np.atleast_1d(self.hidden_layer_sizes)]
        return MLP(inputs, hidden, outputs, self.activation, self.dropout)


@estimator
class MLPClassifier(OneNetwork, Perceptrons, BaseNetworkClassifier):
    """A multi-layer perceptron with a softmax output.

    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MLPClassifier(max_iter=50, learning_rate_init=0.01, random_state=0)
    >>> model.fit(X, y).score(X, y) > 0.9
    True
    """


@estimator
class MLPRegressor(OneNetwork, Perceptrons, BaseNetworkRegressor):
    """A multi-layer perceptron with a linear output.

    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> MLPRegressor(max_iter=50, random_state=0).fit(X, y).predict(X[:3]).shape
    (3,)
    """
