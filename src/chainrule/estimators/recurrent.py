"""A gated recurrent network as a classifier and a regressor of sequences."""

from torch import nn

from chainrule.arguments import Count
from chainrule.estimators.base import estimator
from chainrule.estimators.network_classifier import BaseNetworkClassifier
from chainrule.estimators.network_regressor import BaseNetworkRegressor
from chainrule.estimators.sequences import SequenceEstimator, Sequences
from chainrule.models.recurrent import GRU, SequenceClassifier


@estimator
class GatedRecurrence(SequenceEstimator):
    """A GRU over the steps of a row, and an affine map of its last output."""

    hidden_size: Count = 32
    """Units of the GRU."""

    def _build(self, inputs: int, outputs: int) -> nn.Module:
        steps = self._steps_in(inputs)
        gru = GRU(inputs // steps, self.hidden_size)
        return Sequences(SequenceClassifier(gru, outputs), steps)


@estimator
class RNNClassifier(GatedRecurrence, BaseNetworkClassifier):
    """A gated recurrent network with one logit for each class.

    >>> import numpy as np
    >>> phase = np.random.default_rng(0).uniform(0, 6, (200, 1))
    >>> waves = np.sin(phase + np.arange(20) / 2)
    >>> model = RNNClassifier(steps=20, max_iter=5, random_state=0)
    >>> model.fit(waves, phase[:, 0] > 3).predict(waves[:2]).shape
    (2,)
    """


@estimator
class RNNRegressor(GatedRecurrence, BaseNetworkRegressor):
    """A gated recurrent network with one output for each target.

    >>> import numpy as np
    >>> phase = np.random.default_rng(0).uniform(0, 6, (200, 1))
    >>> waves = np.sin(phase + np.arange(20) / 2)
    >>> model = RNNRegressor(steps=19, max_iter=5, random_state=0)
    >>> model.fit(waves[:, :-1], waves[:, -1]).predict(waves[:2, :-1]).shape
    (2,)
    """
