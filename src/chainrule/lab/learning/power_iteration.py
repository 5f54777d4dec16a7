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
from torch.func import grad, jacrev

from chainrule.autodiff.curvature import flattened, largest_curvature
from chainrule.data.datasets.moons import sample
from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
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
    """The Hessian still nearer by, or a factor λ too many or too few in every weight."""
    shifted = {
        f"weights off by {shift}": partial(verdict, 8, 10, 0, shift=shift) for shift in (1e-3, 1e-6)
    }
    return shifted | {
        "λ^2t for λ^(2t-2)": lambda: verdict(8, 10, 0, shift=0.0, late=1),
        **ten_percent("λ's exponent", lambda factor: verdict(8, 10, 0, shift=0.0, power=factor)),
    }


def verdict(
    hidden: int, steps: int, seed: int, shift: float, late: int = 0, power: float = 1.0
) -> Verdict:
    """Estimates by the number of products."""
    points, labels = sample(60, 0.2, seed)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = MLP(2, [hidden], 2, activation="tanh").double()
    h, theta = flattened(model, lambda f: losses.cross_entropy(f(points.double()), labels).mean())
    eigenvalues, axes = torch.linalg.eigh(jacrev(grad(h))(theta + shift))
    L = eigenvalues.abs().max().item()
    generator = torch.Generator().manual_seed(seed)
    c = axes.T @ torch.randn(theta.shape, generator=generator, dtype=theta.dtype)

    def formula(t: int) -> float:
        weights = (eigenvalues / L).abs() ** (power * (2 * t - 2 + 2 * late)) * c**2
        return ((weights * eigenvalues**2).sum() / weights.sum()).sqrt().item()

    numbers = list(range(1, steps + 1))
    found = [largest_curvature(h, theta, 0.0, t, seed).largest for t in numbers]
    expected = [formula(t) for t in numbers]
    worst = max(abs(a / b - 1) for a, b in zip(found, expected, strict=True))
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
