"""Chapter 2, feedforward networks: from least squares to deep networks."""

from chainrule.models.feedforward.bag_of_words import BagOfWords
from chainrule.models.feedforward.densely_connected import DenselyConnected
from chainrule.models.feedforward.ensemble import Ensemble
from chainrule.models.feedforward.linear_regression import LinearRegression
from chainrule.models.feedforward.logistic_regression import LogisticRegression
from chainrule.models.feedforward.max_min_network import MaxMinNetwork
from chainrule.models.feedforward.mlp import MLP
from chainrule.models.feedforward.relu_interpolant import ReLUInterpolant
from chainrule.models.feedforward.residual_network import ResidualLayer, ResidualNetwork
from chainrule.models.feedforward.ridge_regression import RidgeRegression
from chainrule.models.feedforward.softmax_regression import SoftmaxRegression

__all__ = [
    "MLP",
    "BagOfWords",
    "DenselyConnected",
    "Ensemble",
    "LinearRegression",
    "LogisticRegression",
    "MaxMinNetwork",
    "ReLUInterpolant",
    "ResidualLayer",
    "ResidualNetwork",
    "RidgeRegression",
    "SoftmaxRegression",
]
