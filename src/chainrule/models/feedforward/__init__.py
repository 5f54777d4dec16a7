"""Chapter 2, feedforward networks: from least squares to deep networks."""

from chainrule.models.feedforward.densely_connected import DenselyConnected
from chainrule.models.feedforward.linear_regression import LinearRegression
from chainrule.models.feedforward.logistic_regression import LogisticRegression
from chainrule.models.feedforward.mlp import MLP
from chainrule.models.feedforward.relu_interpolant import ReLUInterpolant
from chainrule.models.feedforward.residual_network import ResidualNetwork
from chainrule.models.feedforward.ridge_regression import RidgeRegression
from chainrule.models.feedforward.softmax_regression import SoftmaxRegression

__all__ = [
    "MLP",
    "DenselyConnected",
    "LinearRegression",
    "LogisticRegression",
    "ReLUInterpolant",
    "ResidualNetwork",
    "RidgeRegression",
    "SoftmaxRegression",
]
