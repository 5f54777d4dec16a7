"""Quantile forecaster: the next H values of a series, each with a band.

    m   = 1/T Σ_t v_t                        the level of the window, taken off and put back
    z_t = F(v_t - m, c_t),   t = 1 … T       c_t: whether v_t is missing, calendar
    q   = m + sort_τ(W z_T + b)              H steps, one value per quantile τ

F is a recurrent network, or a causal transformer. Without the level a series that grows would leave
the range of its training period. Sorted quantiles never cross, and their pinball loss is never
larger than that of unsorted ones.

Koenker and Bassett (1978), Econometrica 46 (quantiles); Kim et al. (2022), ICLR (the level);
Chernozhukov, Fernández-Val and Galichon (2010), Econometrica 78 (sorting).
Notes: J 5, L "When to Use Deep Learning" (NYSE).
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from chainrule.arguments import Count, Rate, checked
from chainrule.models.recurrent.layers import recurrent_network
from chainrule.nn.initialization import initialize
from chainrule.nn.positions import LearnedPositions
from chainrule.nn.transformer_block import PreNormBlock


@checked
class CausalEncoder(nn.Module):
    """A transformer that reads a sequence of vectors.

        z = N(B_L … B_1(W x + p))

    Args:
        input_size: Features of each step.
        hidden_size: Features of each output.
        max_length: Longest sequence.
        num_layers: Number of blocks B.
        num_heads: Attention heads of each block.
        dropout: Dropout rate of the blocks.

    >>> import torch
    >>> from chainrule.models.recurrent.forecaster import CausalEncoder
    >>> CausalEncoder(3, 8, max_length=10)(torch.zeros(2, 5, 3)).shape
    torch.Size([2, 5, 8])
    """

    def __init__(
        self,
        input_size: Count,
        hidden_size: Count,
        max_length: Count,
        num_layers: Count = 1,
        num_heads: Count = 2,
        dropout: Rate = 0.0,
    ):
        super().__init__()
        self.affine = initialize(nn.Linear(input_size, hidden_size), "lecun")
        self.positions = LearnedPositions(max_length, hidden_size)
        self.blocks = nn.ModuleList(
            PreNormBlock(hidden_size, num_heads, 4 * hidden_size, dropout=dropout)
            for _ in range(num_layers)
        )
        self.norm = nn.LayerNorm(hidden_size)

    def forward(
        self, x: Float[Tensor, "batch steps input_size"]
    ) -> Float[Tensor, "batch steps hidden_size"]:
        z = self.affine(x) + self.positions(x.shape[1])
        for block in self.blocks:
            z = block(z, causal=True)
        return self.norm(z)


@checked
class Forecaster(nn.Module):
    """Quantiles of the next values, from a window of a series.

        q = m + sort_τ(W F(v - m, c)_T + b)

    Args:
        network: F: sequences of vectors to sequences of vectors, as a recurrent layer or a
            `CausalEncoder` computes them.
        hidden_size: Features of each output of the network.
        horizon: Number of steps H that are forecast.
        quantiles: Number of quantiles τ of each.

    >>> import torch
    >>> from chainrule.models.recurrent import GRU, Forecaster
    >>> model = Forecaster(GRU(3, 8), 8, horizon=4)
    >>> model(torch.zeros(2, 10, 3)).shape
    torch.Size([2, 4, 3])
    """

    def __init__(
        self, network: nn.Module, hidden_size: Count, horizon: Count, quantiles: Count = 3
    ):
        super().__init__()
        self.network, self.horizon = network, horizon
        self.output = initialize(nn.Linear(hidden_size, horizon * quantiles), "lecun")

    def forward(
        self, x: Float[Tensor, "batch steps features"]
    ) -> Float[Tensor, "batch horizon quantiles"]:
        level = x[:, :, :1].mean(1, keepdim=True)
        x = torch.cat([x[:, :, :1] - level, x[:, :, 1:]], 2)
        z = self.network(x)
        z = z[0] if isinstance(z, tuple) else z  # a recurrent layer returns its state too
        return level + self.output(z[:, -1]).unflatten(1, (self.horizon, -1)).sort(2).values


def example() -> tuple[Forecaster, Tensor]:
    """Three steps ahead by a GRU that reads six steps of four features."""
    return Forecaster(recurrent_network("gru", 4, 8), 8, horizon=3), torch.randn(5, 6, 4)
