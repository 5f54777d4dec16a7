"""Claim: weight normalization's gradient is orthogonal to w, so ‖v‖ never shrinks (J 8.6).

    w = γ v/‖v‖   ⇒   ∂ℓ/∂v = γ/‖v‖ (I - w wᵀ/‖w‖²) ∂ℓ/∂w  ⟂  w,      ∂ℓ/∂γ = vᵀ/‖v‖ ∂ℓ/∂w
    v ← v - η ∂ℓ/∂v   ⇒   ‖v_t‖² = ‖v_0‖² + η² Σ_s ‖∂ℓ/∂v_s‖²          (Pythagoras)

Measured: along stochastic gradient descent at three rates, the largest of three: the relative
difference between formula and autograd, the cosine of ∂ℓ/∂v and w, and the relative error of
‖v_t‖².
Bound: 1e-11. Each is 0 up to rounding in double precision, which a hundred steps add up.
Salimans and Kingma (2016).
"""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.learning.losses import squared
from chainrule.learning.optimizers import optimizer
from chainrule.nn.normalization import WeightNormLinear, weight_norm_gradient

BOUND = 1e-11
RATES = (0.25, 0.5, 1.0)
Formula = Callable[[Tensor, Tensor, Tensor], tuple[Tensor, Tensor]]


def check(steps: int = 60, seed: int = 0) -> Verdict:
    """The projected gradient.

    Args:
        steps: Steps of gradient descent.
    """
    return verdict(weight_norm_gradient, steps, seed)


def broken() -> Verdict:
    """Without the projection: the length of v is treated as a constant."""

    def unprojected(v: Tensor, gamma: Tensor, gradient: Tensor) -> tuple[Tensor, Tensor]:
        length = v.norm(dim=1, keepdim=True)
        return gamma[:, None] / length * gradient, (v / length * gradient).sum(1)

    return verdict(unprojected, 5, 0)


def near() -> Near:
    """A gradient off by 10 %."""

    def scaled(factor: float) -> Verdict:
        def formula(*given: Tensor) -> tuple[Tensor, Tensor]:
            along, length = weight_norm_gradient(*given)
            return factor * along, length

        return verdict(formula, 5, 0)

    return ten_percent("∂ℓ/∂v", scaled)


def verdict(formula: Formula, steps: int, seed: int) -> Verdict:
    """A regression of random targets, at three rates."""
    worst, predicted, lengths = 0.0, {}, {}
    for rate in RATES:
        squares, gradients, off = descended(formula, rate, steps, seed)
        expected = squares[0] + rate**2 * torch.cat([torch.zeros(1), gradients.cumsum(0)])
        worst = max(worst, off, (squares / expected - 1).abs().max().item())
        predicted[f"η = {rate:g}"] = expected.sqrt().tolist()
        lengths[f"η = {rate:g}"] = squares.sqrt().tolist()
    times = [float(step) for step in range(steps + 1)]
    return Verdict(
        quantity="largest error of gradient, angle and ‖v_t‖²",
        measured=worst,
        relation="≤",
        bound=BOUND,
        picture=Picture(
            title="Steps orthogonal to w can only make v longer",
            x_label="steps of gradient descent",
            y_label="length ‖v‖",
            curves={name: (times, values) for name, values in predicted.items()},
            points={name: (times[::4], values[::4]) for name, values in lengths.items()},
        ),
    )


def descended(formula: Formula, rate: float, steps: int, seed: int) -> tuple[Tensor, Tensor, float]:
    """‖v_t‖², ‖∂ℓ/∂v_t‖², and the largest error of formula and angle."""
    generator = torch.Generator().manual_seed(seed)
    with torch.random.fork_rng([]):
        torch.manual_seed(seed)
        layer = WeightNormLinear(nn.Linear(10, 6).double())
    descent = optimizer("sgd", layer.parameters(), rate)
    squares, gradients, off = [layer.v.detach().square().sum()], [], 0.0
    for _ in range(steps):
        x, y = torch.randn(20, 16, dtype=torch.float64, generator=generator).split([10, 6], 1)
        w = layer.weight.detach().requires_grad_()
        (along_w,) = torch.autograd.grad(squared(F.linear(x, w, layer.bias), y).mean(), w)
        descent.zero_grad()
        squared(layer(x), y).mean().backward()
        by_hand = formula(layer.v.detach(), layer.gamma.detach(), along_w)
        automatic = (layer.v.grad, layer.gamma.grad)
        off = max(off, *(relative(a, b) for a, b in zip(by_hand, automatic, strict=True)))
        off = max(off, F.cosine_similarity(by_hand[0], w.detach(), dim=1).abs().max().item())
        gradients.append(by_hand[0].square().sum())
        descent.step()
        squares.append(layer.v.detach().square().sum())
    return torch.stack(squares), torch.stack(gradients), off


def relative(a: Tensor, b: Tensor | None) -> float:
    """Largest entry of a - b, relative to the largest of b."""
    if b is None:
        raise RuntimeError("a parameter without a gradient")
    return ((a - b).abs().max() / b.abs().max()).item()
