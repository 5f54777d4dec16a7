"""A network of infinite width: a Gaussian process whose kernel is built layer by layer.

    K_0(x, x')     = σ_w² xᵀx' / n                                    weights of variance σ_w² / n
    K_{l+1}(x, x') = σ_w² E φ(u) φ(u'),      (u, u') ~ N(0, K_l on x, x')
    relu   E = √(K K') (sin θ + (π - θ) cos θ) / 2π         cos θ = K_l(x, x') / √(K K')
    step   E = (π - θ) / 2π                                 K, K' = K_l(x, x), K_l(x', x')
    erf    E = 2/π asin(2 K_l(x, x') / √((1 + 2K)(1 + 2K')))
    f(x)   = K(x, X) (K(X, X) + σ² I)⁻¹ y                   the mean given examples with noise σ²

Given its inputs, the outputs of a random network are sums of ever more independent terms.
Neal (1996); Williams (1997), NIPS; Cho and Saul (2009), NIPS; Lee et al. (2018), ICLR. Notes: A 5.
"""

import math
from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor, nn

from chainrule.arguments import Count, NonNegative, checked
from chainrule.errors import InputError


@checked
class InfiniteNetwork(nn.Module):
    """The mean of random networks of infinite width, given examples, in double precision.

        f(x) = K(x, X) (K(X, X) + σ² I)⁻¹ y

    Args:
        x: Inputs of the examples, one per row.
        y: Their targets.
        depth: Number of hidden layers.
        activation: relu, step or erf.
        weight_variance: σ_w², the variance of a weight times the inputs of its layer.
        noise: σ², the variance of the noise on the targets.

    Example:
        >>> import torch
        >>> x = torch.tensor([[1.0, -1.0], [1.0, 0.0], [1.0, 1.0]])
        >>> model = InfiniteNetwork(x, torch.tensor([1.0, 0.0, 1.0]), depth=1)
        >>> model(x).round(decimals=4).abs().tolist()
        [1.0, 0.0, 1.0]
    """

    X: Float[Tensor, "examples n"]
    weights: Float[Tensor, " examples"]

    def __init__(
        self,
        x: Float[Tensor, "examples n"],
        y: Float[Tensor, " examples"],
        depth: Count = 2,
        activation: str = "relu",
        weight_variance: NonNegative = 2.0,
        noise: NonNegative = 1e-8,
    ):
        super().__init__()
        if activation not in EXPECTATIONS:
            raise InputError(
                f"`activation` must be one of {', '.join(EXPECTATIONS)}, got {activation!r}"
            )
        self.depth, self.activation = depth, activation
        self.weight_variance = weight_variance
        self.register_buffer("X", x.double())
        noisy = self.kernel(x, x) + noise * torch.eye(len(x), dtype=torch.float64)
        self.register_buffer("weights", torch.linalg.solve(noisy, y.double()))

    def kernel(
        self, x: Float[Tensor, "batch n"], y: Float[Tensor, "other n"]
    ) -> Float[Tensor, "batch other"]:
        """K(x, y)."""
        return kernel(x, y, self.depth, self.activation, self.weight_variance)

    def forward(self, x: Float[Tensor, "batch n"]) -> Float[Tensor, " batch"]:
        """K(x, X) (K(X, X) + σ² I)⁻¹ y."""
        return self.kernel(x, self.X) @ self.weights


def kernel(
    x: Float[Tensor, "batch n"],
    y: Float[Tensor, "other n"],
    depth: int,
    activation: str,
    weight_variance: float,
) -> Float[Tensor, "batch other"]:
    """K_{l+1} = σ_w² E φ(u) φ(u'), from K_0 = σ_w² xᵀy / n."""
    n, expectation = x.shape[1], EXPECTATIONS[activation]
    x, y = x.double(), y.double()
    K = weight_variance * x @ y.T / n
    K_x, K_y = (weight_variance * v.square().sum(1) / n for v in (x, y))
    for _ in range(depth):
        K = weight_variance * expectation(K, K_x[:, None], K_y[None, :])
        K_x, K_y = (weight_variance * expectation(v, v, v) for v in (K_x, K_y))
    return K


def relu_expectation(K: Tensor, K_x: Tensor, K_y: Tensor) -> Tensor:
    """√(K_x K_y) (sin θ + (π - θ) cos θ) / 2π."""
    theta = angle(K, K_x, K_y)
    scale = (K_x * K_y).sqrt() / (2 * math.pi)
    return scale * (theta.sin() + (math.pi - theta) * theta.cos())


def step_expectation(K: Tensor, K_x: Tensor, K_y: Tensor) -> Tensor:
    """(π - θ) / 2π."""
    return (math.pi - angle(K, K_x, K_y)) / (2 * math.pi)


def erf_expectation(K: Tensor, K_x: Tensor, K_y: Tensor) -> Tensor:
    """2/π asin(2K / √((1 + 2 K_x)(1 + 2 K_y)))."""
    return 2 / math.pi * (2 * K / ((1 + 2 * K_x) * (1 + 2 * K_y)).sqrt()).asin()


def angle(K: Tensor, K_x: Tensor, K_y: Tensor) -> Tensor:
    """θ = arccos(K / √(K_x K_y)); a right angle where an input is 0."""
    norm = (K_x * K_y).sqrt()
    cosine = torch.where(norm > 0, K / norm.clamp_min(torch.finfo(norm.dtype).tiny), 0.0)
    return cosine.clamp(-1, 1).acos()


EXPECTATIONS: dict[str, Callable[[Tensor, Tensor, Tensor], Tensor]] = {
    "relu": relu_expectation,
    "step": step_expectation,
    "erf": erf_expectation,
}


def example() -> tuple[InfiniteNetwork, Tensor]:
    """A process that knows twelve points of a parabola, and five other points."""
    x = torch.cat([torch.ones(12, 1), torch.linspace(-1, 1, 12)[:, None]], 1)
    return InfiniteNetwork(x, x[:, 1].square(), noise=1e-3), torch.randn(5, 2)
