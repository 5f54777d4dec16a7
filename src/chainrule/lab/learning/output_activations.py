"""Claim: an output activation fixes the range of predictions and where they can learn (A 1.3.5).

    softmax(f)_i = e^{f_i} / Σ_j e^{f_j} > 0,   Σ_i = 1,   softmax(f + c) = softmax(f)
    σ(f) = softmax(f, 0)_1
    relu(f) ≥ 0,   ∂/∂f = 1 for f > 0 and 0 below;     softplus(f) > 0,   ∂/∂f = σ(f) > 0

Measured: these equations for torch's softmax and the library's activations at random logits,
derivatives by autograd; the largest difference.
Bound: 1e-12, double precision.
A recommends ReLU for an output that must be positive, such as a price. It is right about the range,
but an output below 0 for every example has no gradient and never learns; softplus does.
"""

import torch
from torch import Tensor

from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.nn.activations import activation

BOUND = 1e-12


def check(examples: int = 200, classes: int = 5, seed: int = 0) -> Verdict:
    """Logits of standard deviation 3.

    Args:
        examples: Random logits.
        classes: Outputs of the softmax.
    """
    return verdict(examples, classes, seed)


def broken() -> Verdict:
    """softplus' derivative for ReLU's, as if both learned everywhere."""
    return verdict(50, 3, 0, dead=False)


def near() -> Near:
    """Sums, logits and slopes off by 10 %."""
    return {
        **ten_percent("Σ_i", lambda factor: verdict(50, 3, 0, total=factor)),
        **ten_percent("f of the sigmoid", lambda factor: verdict(50, 3, 0, logit=factor)),
        **ten_percent("softplus' slope", lambda factor: verdict(50, 3, 0, slope=factor)),
    }


def verdict(
    examples: int,
    classes: int,
    seed: int,
    total: float = 1.0,
    logit: float = 1.0,
    slope: float = 1.0,
    dead: bool = True,
) -> Verdict:
    """Differences of both sides of each equation."""
    generator = torch.Generator().manual_seed(seed)
    f = 3 * torch.randn(examples, classes, dtype=torch.float64, generator=generator)
    p, z = f.softmax(1), f[:, 0]
    pairs = torch.stack([z, torch.zeros_like(z)], 1).softmax(1)[:, 0]
    expected = {"relu": (z > 0).double() if dead else z.sigmoid(), "softplus": slope * z.sigmoid()}
    differences = {
        "sum of the softmax": (p.sum(1) - total).abs().max().item(),
        "softmax of shifted logits": ((f + 7).softmax(1) - p).abs().max().item(),
        "sigmoid and two classes": ((logit * z).sigmoid() - pairs).abs().max().item(),
        **{n: (derivative(n, z) - d).abs().max().item() for n, d in expected.items()},
    }
    x = torch.linspace(-4, 4, 81, dtype=torch.float64)
    shown = {"relu": (x > 0).double(), "softplus": x.sigmoid()}
    return Verdict(
        quantity="largest difference of two sides",
        measured=max(differences.values()),
        relation="≤",
        bound=BOUND,
        conditions={
            "softmax, ReLU and softplus have their ranges": bool((p > 0).all())
            and bool((activation("relu")(z) >= 0).all())
            and bool((activation("softplus")(z) > 0).all())
        },
        picture=Picture(
            title="A ReLU output has no gradient below 0; a softplus output always has one",
            x_label="output f before the activation",
            y_label="derivative of the prediction",
            curves={name: (x.tolist(), d.tolist()) for name, d in shown.items()},
            points={n: (x[::5].tolist(), derivative(n, x[::5]).tolist()) for n in shown},
        ),
        details=differences,
    )


def derivative(name: str, f: Tensor) -> Tensor:
    """By autograd."""
    f = f.clone().requires_grad_()
    return torch.autograd.grad(activation(name)(f).sum(), f)[0]
