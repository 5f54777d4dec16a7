"""Claim: an output's error is p - y if its loss matches, else times p' (L exercise 10.3, A 1.3.7).

    (a) identity, squared    p = f             ℓ = ½ ‖y - p‖²                δ = p - y
    (c) sigmoid, squared     p = σ(f)          ℓ = ½ (y - p)²                δ = (p - y) p (1 - p)
    (c) sigmoid, logistic    p = σ(f)          ℓ = -log p^y (1 - p)^{1-y}    δ = p - y
    (d) softmax              p = softmax(f)    ℓ = -log p_y                  δ = p - y
    s = σ'(a) ⊙ βᵀ δ,     ∂ℓ/∂β = δ Aᵀ,  ∂ℓ/∂β_0 = δ,  ∂ℓ/∂w = s xᵀ,  ∂ℓ/∂w_0 = s

Measured: the exercise's gradients with the library's δ, summed over all points, of networks with
one hidden layer, against autograd through the library's MLP and losses; the largest difference,
relative to the largest entry of each gradient.
Bound: 1e-12, double precision, of which cancellation costs at most three digits.
The exercise keeps the squared loss in (c), so p (1 - p) stays, which makes the most wrong outputs
learn least; the logistic loss cancels it. A's equation 1.10 is the squared case, (a - y) ⊙ σ'(z).
Rumelhart, Hinton and Williams (1986).
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from chainrule.autodiff.backpropagation import (
    delta_sigmoid,
    delta_softmax,
    delta_squared,
    delta_squared_sigmoid,
)
from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.learning import losses
from chainrule.models.feedforward.mlp import MLP

BOUND = 1e-12
Delta = Callable[[Tensor, Tensor], Tensor]


class Output(NamedTuple):
    """Number of outputs, loss of each example and δ, both as functions of f and the class y."""

    number: int
    loss: Delta
    delta: Delta


def real(y: Tensor) -> Tensor:
    """The class 0 or 1 as a column of numbers."""
    return y[:, None].double()


OUTPUTS = {
    "squared": Output(
        4,
        lambda f, y: losses.squared(f, one_hot(y, 4).double()),
        lambda f, y: delta_squared(f, one_hot(y, 4).double()),
    ),
    "squared sigmoid": Output(
        1,
        lambda f, y: losses.squared(f.sigmoid(), real(y)),
        lambda f, y: delta_squared_sigmoid(f, real(y)),
    ),
    "sigmoid": Output(1, lambda f, y: losses.logistic(f[:, 0], y), delta_sigmoid),
    "softmax": Output(4, losses.cross_entropy, delta_softmax),
}


def check(hidden: int = 12, points: int = 50, seed: int = 0) -> Verdict:
    """The library's δ of each output.

    Args:
        hidden: Hidden units.
        points: Examples.
    """
    return verdict(OUTPUTS, hidden, points, seed)


def broken() -> Verdict:
    """p - y for every output, also for a sigmoid with the squared loss."""
    return exchanged("squared sigmoid", delta_sigmoid)


def near() -> Near:
    """Errors of each output off by 10 %, p (1 - p) where it cancels, and a target of 0.9."""

    def scaled(factor: float) -> Verdict:
        delta = OUTPUTS["squared sigmoid"].delta
        return exchanged("squared sigmoid", lambda f, y: factor * delta(f, y))

    def all_scaled(factor: float) -> Verdict:
        def off(output: Output) -> Output:
            return output._replace(delta=lambda f, y: factor * output.delta(f, y))

        return verdict({name: off(output) for name, output in OUTPUTS.items()}, 12, 50, 0)

    return {
        **ten_percent("δ", all_scaled),
        **ten_percent("δ of the squared sigmoid", scaled),
        "p (1 - p) with the logistic loss": lambda: exchanged(
            "sigmoid", OUTPUTS["squared sigmoid"].delta
        ),
        "target 0.9 for 1": lambda: exchanged("sigmoid", lambda f, y: f.sigmoid() - 0.9 * real(y)),
    }


def exchanged(name: str, delta: Delta) -> Verdict:
    """The claim with another δ for one output."""
    return verdict(OUTPUTS | {name: OUTPUTS[name]._replace(delta=delta)}, 12, 50, 0)


def verdict(outputs: dict[str, Output], hidden: int, points: int, seed: int) -> Verdict:
    """Exercise 10.3 (a) to (d), and δ by the logit for the picture."""
    found = {name: difference(output, hidden, points, seed) for name, output in outputs.items()}
    f = torch.linspace(-6, 6, 49, dtype=torch.float64)[:, None]
    ones, x = torch.ones(len(f), dtype=torch.long), f[:, 0].tolist()
    shown = {"sigmoid": "logistic loss", "squared sigmoid": "squared loss"}
    return Verdict(
        quantity="largest relative difference from autograd",
        measured=max(found.values()),
        relation="≤",
        bound=BOUND,
        picture=Picture(
            title="With the matching loss, the most wrong output has the largest error",
            x_label="logit f of a sigmoid output whose target is 1",
            y_label="error δ = ∂ℓ/∂f",
            curves={t: (x, outputs[n].delta(f, ones)[:, 0].tolist()) for n, t in shown.items()},
            points={
                t: (x[::3], error(outputs[n].loss, f[::3], ones[::3])) for n, t in shown.items()
            },
        ),
        details=found,
    )


def difference(output: Output, hidden: int, points: int, seed: int) -> float:
    """Exercise against autograd, for one kind of output."""
    generator = torch.Generator().manual_seed(seed)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = MLP(5, [hidden], output.number, activation="sigmoid", initialization="lecun")
    model = model.double()
    x = torch.randn(points, 5, dtype=torch.float64, generator=generator)
    y = torch.randint(0, max(output.number, 2), (points,), generator=generator)
    f = model(x)
    w, w_0, beta, _ = weights = list(model.parameters())
    automatic = torch.autograd.grad(output.loss(f, y).sum(), weights)
    with torch.no_grad():
        A = (x @ w.T + w_0).sigmoid()
        delta = output.delta(f, y)
        s = A * (1 - A) * (delta @ beta)
        by_hand = [s.T @ x, s.sum(0), delta.T @ A, delta.sum(0)]
    pairs = zip(by_hand, automatic, strict=True)
    return max(((a - b).abs().max() / b.abs().max()).item() for a, b in pairs)


def error(loss: Delta, f: Tensor, y: Tensor) -> list[float]:
    """∂ℓ/∂f by autograd."""
    f = f.clone().requires_grad_()
    return torch.autograd.grad(loss(f, y).sum(), f)[0][:, 0].tolist()
