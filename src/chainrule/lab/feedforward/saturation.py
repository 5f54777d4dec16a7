"""Claim: a step has no gradient, a sigmoid saturates, a ReLU does not for z > 0 (L exercise 10.2).

    h'(z) = 0,    σ'(z) = σ(z) σ(-z) ≤ e^(-|z|),    ReLU'(z) = 1 for z > 0 and 0 for z < 0
    ℓ a loss of a = φ(wx):      ∂ℓ/∂w = (∂ℓ/∂a) φ'(wx) x,     so what φ' loses is lost

Measured: over z from -40 to 40, the largest violation of these three by the gradient of the loss
with respect to w that autograd sends through the unit, divided by (∂ℓ/∂a) x.
Bound: 1e-14, fifty roundings in double precision.
ReLU is not bounded either, though A's figure 1.6 says so: a(40) = 40. Its price is dead units: no
gradient at all for z < 0.
"""

import torch
from torch import Tensor

from chainrule.lab.claim import Near, Picture, Verdict
from chainrule.learning import losses
from chainrule.nn.activations import activation

ROUNDING = 1e-14


def check(points: int = 400) -> Verdict:
    """The three units of the exercise.

    Args:
        points: Values of z on each side of zero.
    """
    return verdict(points, never="relu")


def broken() -> Verdict:
    """tanh instead of ReLU: it saturates too."""
    return verdict(400, never="tanh")


def near() -> Near:
    """Activations that are almost a ReLU."""
    return {
        "leaky ReLU": lambda: verdict(400, never="leaky_relu"),
        "GELU": lambda: verdict(400, never="gelu"),
    }


def verdict(points: int, never: str) -> Verdict:
    """Factors φ' found in the gradients of the loss."""
    z = torch.linspace(-40, 40, 2 * points, dtype=torch.float64)  # an even number: never zero
    step, soft, straight = (factor(name, z) for name in ("step", "sigmoid", never))
    decaying = torch.exp(-z.abs())
    worst = max(
        step.abs().max().item(),
        (soft - z.sigmoid() * (-z).sigmoid()).abs().max().item(),
        (soft - decaying).max().item(),
        (straight - (z > 0).double()).abs().max().item(),
        (activation(never)(z).max() - z.max()).abs().item(),
    )
    near, x = (z.abs() < 8).nonzero()[:, 0], torch.linspace(-8, 8, 161, dtype=torch.float64)
    few = near[:: max(len(near) // 33, 1)]
    return Verdict(
        quantity="largest |φ'(z) by autograd - formula|",
        measured=worst,
        relation="≤",
        bound=ROUNDING,
        picture=Picture(
            title="Only the ReLU passes the whole gradient, on one side",
            x_label="input of the unit, z",
            y_label="factor on the gradient, φ'(z)",
            curves={
                "step": (x.tolist(), [0.0] * len(x)),
                "sigmoid": (x.tolist(), (x.sigmoid() * (-x).sigmoid()).tolist()),
                "ReLU": ([-8.0, 0.0, 0.0, 8.0], [0.0, 0.0, 1.0, 1.0]),
            },
            points={
                name: (z[few].tolist(), values[few].tolist())
                for name, values in (("step", step), ("sigmoid", soft), ("ReLU", straight))
            },
        ),
        details={"sigmoid at z = -40": soft[0].item(), "ReLU at z = 40": straight[-1].item()},
    )


def factor(name: str, z: Tensor) -> Tensor:
    """(∂ℓ/∂w) / (∂ℓ/∂a x) for a = φ(wx), with w = 1, x = z and the logistic loss of label 1."""
    w = torch.ones_like(z, requires_grad=True)
    a = activation(name)(w * z)
    loss = losses.logistic(0.01 * a, torch.ones_like(z).long())
    through, outside = torch.autograd.grad(loss.sum(), [w, a], allow_unused=True)
    return torch.zeros_like(z) if through is None else through / outside / z
