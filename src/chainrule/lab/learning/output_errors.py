"""Claim: with its matching loss, an output's error is prediction minus target (L exercise 10.3).

    identity, squared     p = f             ℓ = ½ ‖y - p‖²
    sigmoid, logistic     p = σ(f)          ℓ = -log p^y (1 - p)^{1-y}      ⇒   δ = ∂ℓ/∂f = p - y
    softmax               p = softmax(f)    ℓ = -log p_y
    s = σ'(a) ⊙ βᵀ δ,     ∂ℓ/∂β = δ Aᵀ,  ∂ℓ/∂β_0 = δ,  ∂ℓ/∂w = s xᵀ,  ∂ℓ/∂w_0 = s

Measured: the exercise's gradients, summed over all points, of networks with one hidden layer,
against autograd through the library's MLP and losses; the largest difference, relative to the
largest entry of each gradient.
Bound: 1e-12, double precision, of which cancellation costs at most three digits.
Rumelhart, Hinton and Williams (1986).
"""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.learning import losses
from chainrule.models.feedforward.mlp import MLP

BOUND = 1e-12
PREDICTIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "squared": lambda f: f,
    "sigmoid": torch.sigmoid,
    "softmax": lambda f: f.softmax(-1),
}


def check(hidden: int = 12, points: int = 50, seed: int = 0) -> Verdict:
    """δ = p - y.

    Args:
        hidden: Hidden units.
        points: Examples.
    """
    return verdict(lambda p, y: p - y, hidden, points, seed)


def broken() -> Verdict:
    """The squared loss's factor p (1 - p), which the matching loss cancels."""
    return verdict(lambda p, y: (p - y) * p * (1 - p), 12, 50, 0)


def near() -> Near:
    """Errors off by 10 %, or targets that are not quite 0 and 1."""
    return {
        **ten_percent("δ", lambda factor: verdict(lambda p, y: factor * (p - y), 12, 50, 0)),
        "target 0.9 for 1": lambda: verdict(lambda p, y: p - 0.9 * y, 12, 50, 0),
    }


def verdict(
    delta: Callable[[Tensor, Tensor], Tensor], hidden: int, points: int, seed: int
) -> Verdict:
    """Exercise 10.3 (a) to (d), and δ by the logit for the picture."""
    worst = max(difference(output, delta, hidden, points, seed) for output in PREDICTIONS)
    f = torch.linspace(-6, 6, 49, dtype=torch.float64)
    p, fine = f.sigmoid(), f.tolist()
    return Verdict(
        quantity="largest relative difference from autograd",
        measured=worst,
        relation="≤",
        bound=BOUND,
        picture=Picture(
            title="With the matching loss, the most wrong output has the largest error",
            x_label="logit f of an example whose target is 1",
            y_label="error δ = ∂ℓ/∂f",
            curves={"p - 1": (fine, delta(p, torch.ones(())).tolist())},
            points={"sigmoid with the logistic loss": (fine[::3], error(f[::3]).tolist())},
            bounds={"sigmoid with the squared loss": (fine, ((p - 1) * p * (1 - p)).tolist())},
        ),
    )


def difference(
    output: str, delta: Callable[[Tensor, Tensor], Tensor], hidden: int, points: int, seed: int
) -> float:
    """Exercise against autograd, for one kind of output."""
    generator = torch.Generator().manual_seed(seed)
    outputs = 1 if output == "sigmoid" else 4
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = MLP(5, [hidden], outputs, activation="sigmoid", initialization="lecun").double()
    x = torch.randn(points, 5, dtype=torch.float64, generator=generator)
    y = torch.randint(0, max(outputs, 2), (points,), generator=generator)
    f = model(x)
    w, w_0, beta, _ = weights = list(model.parameters())
    automatic = torch.autograd.grad(loss(output, f, y).sum(), weights)
    with torch.no_grad():
        A = (x @ w.T + w_0).sigmoid()
        deltas = delta(PREDICTIONS[output](f), targets(output, y))
        s = A * (1 - A) * (deltas @ beta)
        by_hand = [s.T @ x, s.sum(0), deltas.T @ A, deltas.sum(0)]
    pairs = zip(by_hand, automatic, strict=True)
    return max(((a - b).abs().max() / b.abs().max()).item() for a, b in pairs)


def targets(output: str, y: Tensor) -> Tensor:
    """The labels as numbers to subtract: 0 and 1, or one-hot."""
    return y[:, None].double() if output == "sigmoid" else one_hot(y, 4).double()


def loss(output: str, f: Tensor, y: Tensor) -> Tensor:
    """The library's loss that goes with the output."""
    if output == "squared":
        return losses.squared(f, targets(output, y))
    return losses.logistic(f[:, 0], y) if output == "sigmoid" else losses.cross_entropy(f, y)


def error(f: Tensor) -> Tensor:
    """∂ℓ/∂f of a sigmoid output by autograd, for the target 1."""
    f = f.clone().requires_grad_()
    return torch.autograd.grad(losses.logistic(f, torch.ones_like(f).long()).sum(), f)[0]
