"""Claim: along filter-normalized directions, a rescaled network has the same loss (A 1.3.10).

    ReLU:  f(x) = W₂ φ(W₁ x + b₁) + b₂  is unchanged by  W₁, b₁ ↦ αW₁, αb₁,   W₂ ↦ W₂/α
    d with rows of length ‖w_i‖:   h'(θ' + t d') = h(θ + t d) for all t;   with rows of length 1 not

Measured: the loss of a network on two moons and of the same network scaled by α = 0.3 and 5, along
the library's direction of the same seed; the largest relative difference for |t| ≤ 1.
Bound: 1e-10, double precision.
Pictures of loss surfaces compare networks only if drawn so: else large weights look like a flat
minimum. Li et al. (2018).
"""

import torch
from torch import Tensor

from chainrule.autodiff.curvature import flattened
from chainrule.autodiff.landscape import filter_normalized
from chainrule.data.datasets.moons import sample
from chainrule.lab.claim import Near, Picture, Verdict
from chainrule.learning import losses
from chainrule.models.feedforward.mlp import MLP

BOUND = 1e-10
SCALES = (1.0, 0.3, 5.0)
T = torch.linspace(-1, 1, 41, dtype=torch.float64)


def check(hidden: int = 16, seed: int = 0) -> Verdict:
    """Rows of the length of their filter.

    Args:
        hidden: Hidden units.
    """
    return verdict(hidden, seed)


def broken() -> Verdict:
    """Rows of length 1."""
    return verdict(16, 0, power=0.0)


def near() -> Near:
    """Lengths ‖w‖ to a power off by 10 %, and biases that are moved by the same for every α."""
    return {
        "‖w_i‖^0.9": lambda: verdict(16, 0, power=0.9),
        "‖w_i‖^1.1": lambda: verdict(16, 0, power=1.1),
        "biases moved too": lambda: verdict(16, 0, bias=0.1),
    }


def verdict(hidden: int, seed: int, power: float = 1.0, bias: float = 0.0) -> Verdict:
    """Profiles of the loss for each α."""
    profiles = {alpha: profile(alpha, hidden, seed, power, bias) for alpha in SCALES}
    plain = {alpha: profile(alpha, hidden, seed, 0.0, 0.0) for alpha in SCALES[1:]}
    one = profiles[1.0]
    off = max(((profiles[alpha] - one).abs() / one).max().item() for alpha in SCALES[1:])
    t = T.tolist()
    return Verdict(
        quantity="largest relative difference of the loss",
        measured=off,
        relation="≤",
        bound=BOUND,
        picture=Picture(
            title="Filter normalization removes the scale of the weights from the loss surface",
            x_label="t along the direction",
            y_label="loss",
            curves={"α = 1": (t, one.tolist())},
            points={f"α = {a:g}": (t[::4], profiles[a][::4].tolist()) for a in SCALES},
            bounds={f"α = {a:g}, not normalized": (t, p.tolist()) for a, p in plain.items()},
        ),
    )


def profile(alpha: float, hidden: int, seed: int, power: float, bias: float) -> Tensor:
    """h(θ + t d) of the network rescaled by α."""
    points, labels = sample(60, 0.2, seed)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = MLP(2, [hidden], 2).double()
        torch.nn.init.normal_(list(model.parameters())[1])  # b₁
    W_1, b_1, W_2, _ = model.parameters()
    with torch.no_grad():
        for parameter, factor in ((W_1, alpha), (b_1, alpha), (W_2, 1 / alpha)):
            parameter.mul_(factor)
    h, theta = flattened(model, lambda f: losses.cross_entropy(f(points.double()), labels).mean())
    d = filter_normalized(model, seed)
    lengths = [
        (p.norm(dim=1, keepdim=True) ** (power - 1)).expand_as(p) if p.ndim > 1 else p * 0
        for p in (q.detach() for q in model.parameters())
    ]
    moved = torch.cat([torch.full((p.numel(),), bias * (p.ndim < 2)) for p in model.parameters()])
    d = d * torch.cat([part.flatten() for part in lengths]) + moved
    return torch.stack([h(theta + t * d) for t in T])
