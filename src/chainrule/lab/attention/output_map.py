"""Claim: without the output map W^O no coordinate can subtract two tokens (A 2.6.2, J 6.1).

    ξ = a u_1 + (1 - a) u_2,   y = u_1 - u_2      ⇒      min_w E(y - w ξ)² / E y² = 1 - ρ² ≥ ½
    ρ² = (2a - 1)² / (2 (a² + (1 - a)²));         0 with a second head, of weights 1 - a, a, and W^O

Measured: two heads of the library's attention give the tokens the weights a, 1 - a and 1 - a, a.
The share of y that the best multiple of one head leaves unexplained, for several a; its largest
distance from 1 - ρ², in standard errors 2ρ(1 - ρ²)/√N of a squared correlation of normal variables.
Bound: the normal quantile that all a together exceed for one seed in 10⁶.
Heads that are only concatenated, as A has it, leave every coordinate to one head. With W^O the
share must be below 1e-20: a linear map of both heads is exact. Vaswani et al. (2017).
"""

import math

import torch
from scipy.stats import norm
from torch import Tensor

from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.nn.attention import SelfAttention, attention

LEVEL = 1e-6
EXACT = 1e-20
WEIGHTS = (0.6, 0.7, 0.8, 0.9, 0.97)


def check(samples: int = 100_000, seed: int = 0) -> Verdict:
    """The coordinate sees the first head only.

    Args:
        samples: Independent pairs of tokens.
    """
    return verdict(samples, seed)


def broken() -> Verdict:
    """The coordinate sees both heads."""
    return verdict(100_000, 0, leak=0.5)


def near() -> Near:
    """Another share, and a coordinate that sees a little of the second head."""
    return {
        **ten_percent("1 - ρ²", lambda factor: verdict(100_000, 0, factor=factor)),
        "10 % of the second head": lambda: verdict(100_000, 0, leak=-0.1),
    }


@torch.no_grad()
def verdict(samples: int, seed: int, factor: float = 1.0, leak: float = 0.0) -> Verdict:
    """Unexplained shares by a, with and without W^O."""
    generator = torch.Generator().manual_seed(seed)
    u = torch.randn(samples, 2, generator=generator, dtype=torch.float64)
    y = u[:, 0] - u[:, 1]
    alone, mixed, distances = [], [], []
    for a in WEIGHTS:
        heads = two_heads(u, a)
        seen = heads[:, :1] + leak * heads[:, 1:]
        alone.append(unexplained(seen, y))
        mixed.append(unexplained(heads, y))
        rho = math.sqrt(1 - share(a))
        error = 2 * rho * share(a) / math.sqrt(samples)
        distances.append(abs(alone[-1] - factor * share(a)) / error)
    grid = [0.5 + k / 100 for k in range(51)]
    return Verdict(
        quantity="largest |share - (1 - ρ²)|, standard errors",
        measured=max(distances),
        relation="≤",
        bound=float(norm.isf(LEVEL / 2 / len(WEIGHTS))),
        conditions={"with W^O the difference is exact": max(mixed) <= EXACT},
        picture=Picture(
            title="One head cannot subtract two tokens; two heads and W^O can",
            x_label="weight a of the first token",
            y_label="unexplained share of u_1 - u_2",
            curves={"1 - ρ²": (grid, [share(a) for a in grid])},
            points={
                "concatenated only": (list(WEIGHTS), alone),
                "mixed by W^O": (list(WEIGHTS), mixed),
            },
            bounds={"½, for a = 1": ([0.5, 1.0], [0.5, 0.5])},
        ),
        details={"largest share with W^O": max(mixed)},
    )


def share(a: float) -> float:
    """1 - ρ²."""
    return 1 - (2 * a - 1) ** 2 / (2 * (a**2 + (1 - a) ** 2))


def two_heads(u: Tensor, a: float) -> Tensor:
    """The outputs of two heads side by side, with weights a, 1 - a and 1 - a, a."""
    n = len(u)
    scores = torch.tensor([[a, 1 - a], [1 - a, a]], dtype=u.dtype).log()
    keys = scores[:, :, None].expand(n, -1, -1, -1)
    values = u[:, None, :, None].expand(-1, 2, -1, -1)
    heads = attention(torch.ones(n, 2, 1, 1, dtype=u.dtype), keys, values)
    layer = SelfAttention(hidden_size=2, num_heads=2).to(u.dtype)
    layer.output.weight.copy_(torch.eye(2))
    layer.output.bias.zero_()
    return layer.join_heads(heads)[:, 0]


def unexplained(x: Tensor, y: Tensor) -> float:
    """Share of y² that no linear map of x explains."""
    w = torch.linalg.lstsq(x, y[:, None]).solution
    return ((y - (x @ w)[:, 0]).square().sum() / y.square().sum()).item()
