"""A transformer as a classifier and a regressor of sequences.

x ← W u + b + p                        learned positions p
x ← x + A(N(x)),   x ← x + F(N(x))     pre-norm blocks, every step attends to all
f(u) = V mean_t N(x)_t + v
"""

import torch.nn.functional as F
from torch import Tensor, nn

from chainrule.arguments import Count, Rate
from chainrule.errors import InputError
from chainrule.estimators.base import estimator
from chainrule.estimators.network_classifier import BaseNetworkClassifier
from chainrule.estimators.network_regressor import BaseNetworkRegressor
from chainrule.estimators.sequences import SequenceEstimator, Sequences
from chainrule.nn.initialization import initialize
from chainrule.nn.positions import LearnedPositions
from chainrule.nn.transformer_block import PreNormBlock


@estimator
class Attention(SequenceEstimator):
    """A transformer encoder over the steps of a row, and an affine map of its mean output."""

    hidden_size: Count = 32
    """Size of the vector of a step."""
    num_layers: Count = 1
    """Number of blocks."""
    num_heads: Count = 2
    """Number of attention heads, a divisor of `hidden_size`."""
    dropout: Rate = 0.0
    """Dropout probability inside the blocks."""

    def _build(self, inputs: int, outputs: int) -> nn.Module:
        if self.hidden_size % self.num_heads:
            raise InputError(
                f"`num_heads` {self.num_heads} does not divide `hidden_size` {self.hidden_size}"
            )
        steps = self._steps_in(inputs)
        blocks = [
            PreNormBlock(
                self.hidden_size, self.num_heads, 4 * self.hidden_size, F.gelu, self.dropout
            )
            for _ in range(self.num_layers)
        ]
        return Sequences(Encoder(inputs // steps, steps, blocks, self.hidden_size, outputs), steps)


@estimator
class TransformerClassifier(Attention, BaseNetworkClassifier):
    """A transformer encoder with one logit for each class.

    >>> import numpy as np
    >>> phase = np.random.default_rng(0).uniform(0, 6, (200, 1))
    >>> waves = np.sin(phase + np.arange(20) / 2)
    >>> model = TransformerClassifier(steps=20, max_iter=3, random_state=0)
    >>> model.fit(waves, phase[:, 0] > 3).predict(waves[:2]).shape
    (2,)
    """


@estimator
class TransformerRegressor(Attention, BaseNetworkRegressor):
    """A transformer encoder with one output for each target.

    >>> import numpy as np
    >>> phase = np.random.default_rng(0).uniform(0, 6, (200, 1))
    >>> waves = np.sin(phase + np.arange(20) / 2)
    >>> model = TransformerRegressor(steps=19, max_iter=3, random_state=0)
    >>> model.fit(waves[:, :-1], waves[:, -1]).predict(waves[:2, :-1]).shape
    (2,)
    """


class Encoder(nn.Module):
    """f(u) = V mean_t N(B_L … B_1(W u + b + p))_t + v.

    Args:
        features: of each step.
        steps: of a sequence.
        blocks: B_1, …, B_L.
        hidden_size: Size of the vector of a step.
        outputs: of a sequence.
    """

    def __init__(
        self, features: int, steps: int, blocks: list[PreNormBlock], hidden_size: int, outputs: int
    ):
        super().__init__()
        self.affine = initialize(nn.Linear(features, hidden_size), "lecun")
        self.positions = LearnedPositions(steps, hidden_size)
        self.blocks = nn.ModuleList(blocks)
        self.norm = nn.LayerNorm(hidden_size)
        self.output = initialize(nn.Linear(hidden_size, outputs), "lecun")

    def forward(self, u: Tensor) -> Tensor:
        x = self.affine(u) + self.positions(u.shape[1])
        for block in self.blocks:
            x = block(x)
        return self.output(self.norm(x).mean(1))
