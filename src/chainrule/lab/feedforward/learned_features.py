"""Claim: learned hidden units beat all fixed ones where few directions matter, else not (L 10).

    learned:  f = Σ_j β_j (w_jᵀx + b_j)₊,  all of β, w, b free       fixed:  w, b drawn once, β free
    y = |uᵀx|,  x ~ N(0, I_d):    E_u of the best fit with M fixed functions
                                  ≥ (1/π)(1 - 1/d)(1 - M/N),    N = d (d + 1)/2 - 1

The bound: 1/π is the share of degree 2 in |t|, and its traceless part u uᵀ - I/d turns, as u does,
through a space of N dimensions, of which M functions span M at most. Two learned units compute y.
Measured: the test error of the learned network divided by this bound, the largest over widths.
Bound: 1: below it lies no choice of fixed functions. The random features must lie above. And for
y = sin(2 ‖x‖) in the plane, where all directions matter alike, learning must not pay: 16 to 64
learned units leave more than half of the error of as many fixed ones (geometric mean).
Barron (1993), section X.
"""

import math
from collections.abc import Callable, Sequence
from functools import partial

import torch
from torch import Tensor

from chainrule.errors import InputError
from chainrule.lab.claim import Near, Picture, Verdict
from chainrule.learning import losses
from chainrule.learning.optimizers import optimizer
from chainrule.models.feedforward.mlp import MLP
from chainrule.models.theory.random_features import RandomFeatures

WIDTHS = (8, 16, 32)
ISOTROPIC = (16, 32, 64)
PAYS = 0.5  # of the error of fixed units


def check(inputs: int = 10, examples: int = 1000, steps: int = 200, seed: int = 0) -> Verdict:
    """All weights are learned.

    Args:
        inputs: Input dimension d, at least 9, so that 32 fixed units are too few.
        examples: Training examples.
        steps: Steps of Adam.
    """
    if inputs < 9:
        raise InputError(
            f"`inputs` must be at least 9, where 32 fixed units cannot span all, got {inputs}"
        )
    return verdict(inputs, examples, steps, seed)


def broken() -> Verdict:
    """Only the outgoing weights are learned, so the units of both are fixed."""
    return verdict(10, 1000, 150, 0, hidden=False)


def near() -> Near:
    """A target of many directions, and too little training."""
    return {
        "a target of 100 directions": partial(verdict, 10, 1000, 100, 0, directions=100),
        "10 steps": partial(verdict, 10, 1000, 10, 0),
    }


def verdict(
    inputs: int, examples: int, steps: int, seed: int, hidden: bool = True, directions: int = 1
) -> Verdict:
    """Test errors of both by width, for a target of few directions and one of all."""
    generator = torch.Generator().manual_seed(seed)
    u = torch.randn(inputs, directions, generator=generator, dtype=torch.float64)
    u = u / u.norm(dim=0)
    few = errors(partial(ridges, u), inputs, WIDTHS, examples, steps, seed, hidden)
    all_ = errors(rings, 2, ISOTROPIC, examples, steps, seed, hidden)
    limits = [lower_bound(inputs, M) for M in WIDTHS]
    ratio = max(a / b for a, b in zip(few["learned"], limits, strict=True))
    above = min(a / b for a, b in zip(few["fixed"], limits, strict=True))
    unpaid = math.prod(a / b for a, b in zip(all_["learned"], all_["fixed"], strict=True)) ** (
        1 / 3
    )
    return Verdict(
        quantity="largest test error, learned / least of fixed units",
        measured=ratio,
        relation="<",
        bound=1.0,
        conditions={
            "fixed random units lie above the bound": above >= 1,
            "where all directions matter, no gain": unpaid >= PAYS,
        },
        picture=Picture(
            title="Learned units pay where few directions matter",
            x_label="hidden units M",
            y_label="mean squared test error",
            points={
                "|uᵀx|, learned": (list(map(float, WIDTHS)), few["learned"]),
                "|uᵀx|, fixed": (list(map(float, WIDTHS)), few["fixed"]),
                "sin 2‖x‖, learned": (list(map(float, ISOTROPIC)), all_["learned"]),
                "sin 2‖x‖, fixed": (list(map(float, ISOTROPIC)), all_["fixed"]),
            },
            bounds={"least of fixed units, |uᵀx|": (list(map(float, WIDTHS)), limits)},
            log="xy",
        ),
        details={"fixed / least": above, "all directions, learned / fixed": unpaid},
    )


def lower_bound(d: int, M: int) -> float:
    """(1/π)(1 - 1/d)(1 - M/N)."""
    return (1 - 1 / d) / math.pi * (1 - M / (d * (d + 1) / 2 - 1))


def ridges(u: Tensor, x: Tensor) -> Tensor:
    """Σ_k |u_kᵀx| / √K, the u_k as columns."""
    return (x @ u).abs().sum(1) / u.shape[1] ** 0.5


def rings(x: Tensor) -> Tensor:
    """sin(2 ‖x‖)."""
    return (2 * x.norm(dim=1)).sin()


def errors(
    y: Callable[[Tensor], Tensor],
    inputs: int,
    widths: Sequence[int],
    examples: int,
    steps: int,
    seed: int,
    hidden: bool,
) -> dict[str, list[float]]:
    """Test errors of learned and of fixed units by width."""
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(examples + 1000, inputs, generator=generator, dtype=torch.float64)
    train, test = (x[1000:], y(x[1000:])), (x[:1000], y(x[:1000]))
    found: dict[str, list[float]] = {"learned": [], "fixed": []}
    for width in widths:
        model = RandomFeatures(inputs, width, seed)
        model.fit(*train)
        found["fixed"].append((model(test[0]) - test[1]).square().mean().item())
        found["learned"].append(trained(drawn(inputs, width, seed, hidden), train, test, steps))
    return found


def drawn(inputs: int, width: int, seed: int, hidden: bool) -> MLP:
    """A network with the library's initial weights, whose hidden layer is trained or not."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = MLP(inputs, [width], 1).double()
    model.layers[0].requires_grad_(hidden)
    return model


def trained(
    model: MLP, train: tuple[Tensor, Tensor], test: tuple[Tensor, Tensor], steps: int
) -> float:
    """Test error after full-batch steps of Adam."""
    descent = optimizer("adam", model.parameters(), learning_rate=0.03)
    for _ in range(steps):
        descent.zero_grad()
        losses.squared(model(train[0])[:, 0], train[1]).mean().backward()
        descent.step()
    with torch.no_grad():
        return (model(test[0])[:, 0] - test[1]).square().mean().item()
