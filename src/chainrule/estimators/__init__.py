"""scikit-learn estimators: fit, predict and score, in pipelines and searches.

Constructors only store their arguments; fitted attributes end in an underscore, the torch module
among them. Networks train in the precision of X: float64 agrees with scikit-learn to the last
digits, float32 is faster.
"""

from chainrule.estimators.convolutional import CNNClassifier
from chainrule.estimators.ensemble import EnsembleClassifier, EnsembleRegressor
from chainrule.estimators.graph import GCNClassifier
from chainrule.estimators.hopfield import HopfieldMemory
from chainrule.estimators.linear import LinearRegression, RidgeRegression
from chainrule.estimators.logistic import LogisticRegression
from chainrule.estimators.mlp import MLPClassifier, MLPRegressor
from chainrule.estimators.module import NetworkClassifier, NetworkRegressor
from chainrule.estimators.perceptron import PerceptronClassifier
from chainrule.estimators.recurrent import RNNClassifier, RNNRegressor
from chainrule.estimators.transformer import TransformerClassifier, TransformerRegressor

__all__ = [
    "CNNClassifier",
    "EnsembleClassifier",
    "EnsembleRegressor",
    "GCNClassifier",
    "HopfieldMemory",
    "LinearRegression",
    "LogisticRegression",
    "MLPClassifier",
    "MLPRegressor",
    "NetworkClassifier",
    "NetworkRegressor",
    "PerceptronClassifier",
    "RNNClassifier",
    "RNNRegressor",
    "RidgeRegression",
    "TransformerClassifier",
    "TransformerRegressor",
]
