"""The scikit-learn face of the course: fit, predict, score, in pipelines and searches.

Constructors only store their arguments; what is learned ends in an underscore, the fitted torch
module among it. Numbers are kept in the precision of X: float64 gives what scikit-learn users
expect to the last digit, float32 trains faster.
"""

from chainrule.estimators.ensemble import EnsembleClassifier, EnsembleRegressor
from chainrule.estimators.hopfield import HopfieldMemory
from chainrule.estimators.linear import LinearRegression, RidgeRegression
from chainrule.estimators.logistic import LogisticRegression
from chainrule.estimators.mlp import MLPClassifier, MLPRegressor
from chainrule.estimators.perceptron import PerceptronClassifier

__all__ = [
    "EnsembleClassifier",
    "EnsembleRegressor",
    "HopfieldMemory",
    "LinearRegression",
    "LogisticRegression",
    "MLPClassifier",
    "MLPRegressor",
    "PerceptronClassifier",
    "RidgeRegression",
]
