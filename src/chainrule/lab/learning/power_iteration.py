"""Claim: power iteration on Hessian-vector products finds L = ‖∇²h‖₂ (J 3.2).

    v_t = H v_{t-1} / ‖H v_{t-1}‖,   H e_i = λ_i e_i,   v_0 = Σ_i c_i e_i
    ‖H v_t‖² = Σ_i λ_i^{2t+2} c_i² / Σ_i λ_i^{2t} c_i²   →   L² = max λ_i²,  from below

Measured: the library's estimate after 1 … `steps` products, for the loss of a small network on two
moons, against the formula with the eigenvalues of its explicit Hessian; the largest relative
difference.
Bound: 1e-9: both are computed in double precision, and the iteration forgets its rounding errors as
it forgets its start.
A product costs two gradients; the Hessian costs as many as there are weights. von Mises and
Pollaczek-Geiringer (1929), Pearlmutter (1994).
"""

from functools import partial

import torch
from torch.func import hessian

from chainrule.autodiff.curvature import flattened, largest_curvature
from chainrule.data.datasets.moons import sample
from chainrule.lab.claim import Near, Picture, Verdict
from chainrule.learning import losses
from chainrule.models.feedforward.mlp import MLP

BOUND = 1e-9


def check(hidden: int = 8, steps: int = 12, seed: int = 0) -> Verdict:
    """The Hessian at the network's weights.

    Args:
        hidden: Hidden units of the network.
        steps: Largest number of products.
    """
    return verdict(hidden, steps, seed, shift=0.0)


def broken() -> Verdict:
    """The Hessian at other weights nearby."""
    return verdict(8, 10, 0, shift=0.1)


def near() -> Near:
    """The Hessian still nearer by."""
    return {
        f"weights off by {shift}": partial(verdict, 8, 10, 0, shift=shift) for shift in (1e-3, 1e-6)
    }


def verdict(hidden: int, steps: int, seed: int, shift: float) -> Verdict:
    """Estimates by the number of products."""
    points, labels = sample(60, 0.2, seed)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = MLP(2, [hidden], 2, activation="tanh").double()
    h, theta = flattened(model, lambda f: losses.cross_entropy(f(points.double()), labels).mean())
    eigenvalues, axes = torch.linalg.eigh(hessian(h)(theta + shift))
    generator = torch.Generator().manual_seed(seed)
    c = axes.T @ torch.randn(theta.shape, generator=generator, dtype=theta.dtype)

    def formula(t: int) -> float:
        weights = (eigenvalues / eigenvalues.abs().max()) ** (2 * t - 2) * c**2
        return ((weights * eigenvalues**2).sum() / weights.sum()).sqrt().item()

    numbers = list(range(1, steps + 1))
    found = [largest_curvature(h, theta, 0.0, t, seed).largest for t in numbers]
    expected = [formula(t) for t in numbers]
    worst = max(abs(a / b - 1) for a, b in zip(found, expected, strict=True))
    L = eigenvalues.abs().max().item()
    products = list(map(float, numbers))
    return Verdict(
        quantity="largest relative |estimate - formula|",
        measured=worst,
        relation="≤",
        bound=BOUND,
        picture=Picture(
            title="A few Hessian-vector products give the largest curvature",
            x_label="Hessian-vector products",
            y_label="estimate of L",
            curves={"predicted": (products, expected)},
            points={"power iteration": (products, found)},
            bounds={"largest eigenvalue": (products, [L] * steps)},
        ),
        details={"weights": float(len(theta)), "L": L, "last estimate": found[-1]},
    )
