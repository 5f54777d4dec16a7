"""Claim: a T-net is any linear map; its penalty pulls the singular values to 1 (J 7.3).

    ‖I - A Aᵀ‖²_F = Σ_i (1 - σ_i²)²,     A ← A - η ∇:   σ_i ← σ_i + 4 η σ_i (1 - σ_i²),   U, V stay

J calls the T-nets rigid transformations. Nothing in the network makes A orthogonal: only the
penalty, which is 0 for rotations and reflections alike, and never changes the sign of det A.
Measured: matrices that T-nets with random weights give for clouds on solids, and gradient descent
on the library's penalty from there; the largest relative difference of the penalty from the sum,
and of the singular values from the recursion at any step.
Bound: 1e-10, rounding of some hundred steps in double precision. At first some σ must be off by a
tenth, so A is not rigid; in the end all must be within 10⁻³ of 1.
Qi et al. (2017).
"""

import torch
from torch import Tensor

from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.lab.helpers.cloud import clouds, turning
from chainrule.models.geometric.pointnet import TNet, orthogonality

BOUND, RIGID = 1e-10, 1e-3
RATE = 0.02


def check(steps: int = 400, seed: int = 0) -> Verdict:
    """The penalty pulls.

    Args:
        steps: Steps of gradient descent on the penalty.
    """
    return verdict(steps, seed)


def broken() -> Verdict:
    """T-nets without the penalty, called rigid."""
    return verdict(0, 0)


def near() -> Near:
    """Other speeds of the singular values, or another penalty."""
    return {
        **ten_percent("4 η", lambda factor: verdict(400, 0, speed=4 * factor)),
        **ten_percent("‖I - A Aᵀ‖²", lambda factor: verdict(400, 0, size=factor)),
    }


def verdict(steps: int, seed: int, speed: float = 4.0, size: float = 1.0) -> Verdict:
    """Singular values along descent."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        net = TNet(3, 3, 64)
        turning(net)
        net.output.weight.data.normal_(std=0.03)
    with torch.no_grad():
        A = net(clouds(4, 64, seed))
    sigma, found, predicted, worst = torch.linalg.svdvals(A), [], [], 0.0
    start, signs = sigma, torch.linalg.det(A).sign()
    for _ in range(steps + 1):
        measured = torch.linalg.svdvals(A)
        total = size * (1 - measured.square()).square().sum(1)
        worst = max(
            worst,
            relative(measured, sigma),
            ((total - orthogonality(A)).abs() / (1 + total)).max().item(),
        )
        found.append(measured)
        predicted.append(sigma)
        A = A - RATE * slope(A)
        sigma = sigma + speed * RATE * sigma * (1 - sigma.square())
    last = found[-1]
    times = [float(t) for t in range(steps + 1)]
    return Verdict(
        quantity="largest relative error of penalty and singular values",
        measured=worst,
        relation="≤",
        bound=BOUND,
        conditions={
            "A is not rigid at first": (start - 1).abs().max().item() >= 0.1,
            "A is orthogonal in the end": (last - 1).abs().max().item() <= RIGID,
            "det A keeps its sign": bool((torch.linalg.det(A).sign() == signs).all()),
        },
        picture=Picture(
            title="The penalty makes a linear map rigid; nothing else does",
            x_label="steps of descent on the penalty",
            y_label="singular values of A",
            curves={
                f"σ_{i + 1} by the recursion": (times, [float(s[0, i]) for s in predicted])
                for i in range(3)
            },
            points={
                f"σ_{i + 1} of A": (times[::10], [float(s[0, i]) for s in found[::10]])
                for i in range(3)
            },
            bounds={"rigid": ([0.0, float(max(steps, 1))], [1.0, 1.0])},
        ),
        details={"largest |σ - 1| at first": (start - 1).abs().max().item()},
    )


def slope(A: Tensor) -> Tensor:
    """∇ ‖I - A Aᵀ‖² by autograd."""
    A = A.clone().requires_grad_()
    return torch.autograd.grad(orthogonality(A).sum(), A)[0]


def relative(a: Tensor, b: Tensor) -> float:
    return ((a - b).abs() / b).max().item()
