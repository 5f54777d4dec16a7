"""A gated recurrent network as a classifier and a regressor of sequences, the rows of X."""

from torch import Tensor, nn

from chainrule.arguments import Count
from chainrule.errors import InputError
from chainrule.estimators.base import estimator
from chainrule.estimators.network import NetworkEstimator, OneNetwork
from chainrule.estimators.network_classifier import BaseNetworkClassifier
from chainrule.estimators.network_regressor import BaseNetworkRegressor
from chainrule.models.recurrent import GRU, SequenceClassifier


@estimator
class GatedRecurrence(OneNetwork, NetworkEstimator):
    """A GRU over the steps of a row, and an affine map of its last output."""

    steps: Count | None = None
    """Steps of a sequence, which lie one after another in a row; None: each feature is a step."""
    hidden_size: Count = 32
    """Units of the GRU."""

    def _build(self, inputs: int, outputs: int) -> nn.Module:
        steps = inputs if self.steps is None else self.steps
        if inputs % steps:
            raise InputError(f"`steps` {steps} does not divide the {inputs} features of a row")
        gru = GRU(inputs // steps, self.hidden_size)
        return Sequences(SequenceClassifier(gru, outputs), steps)


@estimator
class RNNClassifier(GatedRecurrence, BaseNetworkClassifier):
    """A gated recurrent network with one logit for each class."""


@estimator
class RNNRegressor(GatedRecurrence, BaseNetworkRegressor):
    """A gated recurrent network with one output for each target."""


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
