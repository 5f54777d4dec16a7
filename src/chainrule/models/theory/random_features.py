"""Random features: least squares on fixed random ReLU units, which shows double descent.

    φ(x) = (Wᵀ x + b)₊ / √N,   W, b drawn once and kept,   f(x) = aᵀ φ(x)
    a = Φ⁺ y = argmin ‖a‖ among all a that minimize ‖Φ a - y‖

With fewer features than samples this is ordinary least squares; with more, infinitely many a fit
exactly and the pseudo-inverse takes the shortest. At N = n the only exact fit has a large norm:
‖a‖ and the test error peak there and fall again beyond (double descent).

Rahimi and Recht (2007), NIPS; Belkin et al. (2019), PNAS 116(32). Notes: A 1.3.12.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from chainrule.arguments import Count, Natural, checked
from chainrule.errors import InputError

RELATIVE = 1e-12  # singular values below this fraction of the largest count as zero


@checked
class RandomFeatures(nn.Module):
    """Least squares on N fixed random ReLU units, in double precision.

        f(x) = aᵀ φ(x),     φ(x) = (Wᵀ x + b)₊ / √N,     a = Φ⁺ y

    Args:
        inputs: Size of x.
        features: N.
        seed: Seed of the draw of W and b.

    Example:
        >>> import torch
        >>> x = torch.linspace(-1, 1, 5)[:, None]
        >>> model = RandomFeatures(inputs=1, features=50)
        >>> model.fit(x, x[:, 0].square())
        >>> model(x).round(decimals=4).tolist()
        [1.0, 0.25, 0.0, 0.25, 1.0]
    """

    W: Float[Tensor, "n features"]
    b: Float[Tensor, " features"]
    a: Float[Tensor, " features"]

    def __init__(self, inputs: Count, features: Count, seed: Natural = 0):
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        draw = torch.randn(inputs + 1, features, generator=generator, dtype=torch.float64)
        self.register_buffer("W", draw[1:] / inputs**0.5)
        self.register_buffer("b", draw[0])
        self.register_buffer("a", torch.zeros(features, dtype=torch.float64))

    def forward(self, x: Float[Tensor, "batch n"]) -> Float[Tensor, " batch"]:
        """aᵀ φ(x)."""
        return features(self.W, self.b, x.double()) @ self.a

    def fit(self, x: Float[Tensor, "batch n"], y: Float[Tensor, " batch"]) -> None:
        """a = Φ⁺ y."""
        self.a.copy_(shortest_fit(features(self.W, self.b, x.double()), y.double()))


def features(
    W: Float[Tensor, "n features"], b: Float[Tensor, " features"], x: Float[Tensor, "batch n"]
) -> Float[Tensor, "batch features"]:
    """φ(x) = (Wᵀ x + b)₊ / √N."""
    return (x @ W + b).relu() / len(b) ** 0.5


def shortest_fit(
    Phi: Float[Tensor, "batch features"], y: Float[Tensor, " batch"]
) -> Float[Tensor, " features"]:
    """Φ⁺ y, by singular values."""
    if not (Phi.isfinite().all() and y.isfinite().all()):
        raise InputError("inputs and targets must be finite; remove or impute missing values")
    return torch.linalg.lstsq(Phi, y[:, None], rcond=RELATIVE, driver="gelsd").solution[:, 0]


def double_descent(
    train: tuple[Tensor, Tensor], test: tuple[Tensor, Tensor], widths: list[int], seed: int = 0
) -> dict[str, list[float]]:
    """Training and test error and ‖a‖ for every number of features."""
    found: dict[str, list[float]] = {"train": [], "test": [], "norm": []}
    for width in widths:
        model = RandomFeatures(train[0].shape[1], width, seed)
        model.fit(*train)
        for name, (x, y) in (("train", train), ("test", test)):
            found[name].append((model(x) - y.double()).square().mean().item())
        found["norm"].append(model.a.norm().item())
    return found


def example() -> tuple[RandomFeatures, Tensor]:
    """Twelve features fitted to a plane, and five points."""
    x = torch.randn(20, 3)
    model = RandomFeatures(3, 12)
    model.fit(x, x.sum(1))
    return model, torch.randn(5, 3)
