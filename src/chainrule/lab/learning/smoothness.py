"""Claim: a gradient is L-Lipschitz if and only if no Hessian has a norm above L (J 3.2).

    ‖∇h(θ) - ∇h(θ')‖ ≤ L ‖θ - θ'‖  for all θ, θ'     ⇔     ‖∇²h(θ)‖₂ ≤ L  for all θ
    ⇐   ∇h(θ') - ∇h(θ) = ∫₀¹ ∇²h(θ + s Δ) Δ ds,  Δ = θ' - θ
    ⇒   ‖∇h(θ + εv) - ∇h(θ - εv)‖ / 2ε → ‖∇²h(θ) v‖ = ‖∇²h(θ)‖₂  for the top eigenvector v

Measured: the largest quotient of the library's gradients over pairs of points, for the loss of a
small network, divided by the largest Hessian norm on the segments between them; pairs at random,
and pairs 2ε = 2e-4 apart along v at the point where that norm was largest.
Bound: 1, with 1e-6 for the points between the 65 of a segment. The pairs along v must reach it to
1e-6: ε²/6 ‖∇⁴h‖ is below 1e-7. Nesterov (2004), lemma 1.2.2.
"""

import torch
from torch import Tensor
from torch.func import grad, jacrev, vmap

from chainrule.autodiff.curvature import Function, flattened
from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.learning import losses
from chainrule.models.feedforward.mlp import MLP

TOLERANCE = 1e-6
EPSILON = 1e-4
ALONG = torch.linspace(0, 1, 65, dtype=torch.float64)


def check(pairs: int = 20, seed: int = 0) -> Verdict:
    """L is the largest Hessian norm.

    Args:
        pairs: Random pairs of weight vectors.
    """
    return verdict(pairs, seed, scale=1.0)


def broken() -> Verdict:
    """Half that norm."""
    return verdict(5, 0, scale=0.5)


def near() -> Near:
    """Another L, and pairs along v that are not close."""
    return {
        **ten_percent("L", lambda factor: verdict(5, 0, scale=factor)),
        "pairs 6 apart along v": lambda: verdict(5, 0, scale=1.0, closest=False),
    }


def verdict(pairs: int, seed: int, scale: float, closest: bool = True) -> Verdict:
    """Quotients against the norms on their segments."""
    h, theta = network_loss(seed)
    generator = torch.Generator().manual_seed(seed)
    ends = theta + torch.randn(2, pairs, len(theta), dtype=theta.dtype, generator=generator)
    points = ends[0] + ALONG[:, None, None] * (ends[1] - ends[0])
    H = vmap(jacrev(grad(h)), chunk_size=64)(points.flatten(0, 1))
    norms = torch.linalg.eigvalsh(H).abs().max(1).values
    largest = norms.argmax()
    apart = quotient(h, *ends)
    segment = norms.view(len(ALONG), pairs).max(0).values
    values, axes = torch.linalg.eigh(H[largest])
    v = axes[:, values.abs().argmax()]
    place = points.flatten(0, 1)[largest]
    step = EPSILON * v if closest else 3 * v
    along_v = quotient(h, (place - step)[None], (place + step)[None])
    L = scale * norms.max().item()
    return Verdict(
        quantity="largest ‖∇h(θ) - ∇h(θ')‖ / (L ‖θ - θ'‖)",
        measured=max((apart / (scale * segment)).max().item(), along_v.item() / L),
        relation="≤",
        bound=1 + TOLERANCE,
        conditions={"pairs along v attain L": along_v.item() / L >= 1 - TOLERANCE},
        picture=Picture(
            title="Gradients differ by at most the largest Hessian norm times the distance",
            x_label="largest Hessian norm on the segment between two points",
            y_label="difference of gradients / distance",
            points={
                "random pairs": (segment.tolist(), apart.tolist()),
                "along the top eigenvector": ([norms.max().item()], along_v.tolist()),
            },
            bounds={"L": ([0.0, norms.max().item()], [0.0, L])},
        ),
        details={
            "share of L used by random pairs": (apart / segment).max().item(),
            "share of L used along v": along_v.item() / norms.max().item(),
        },
    )


def quotient(h: Function, a: Tensor, b: Tensor) -> Tensor:
    """‖∇h(a) - ∇h(b)‖ / ‖a - b‖ of each pair of rows."""
    gradient = vmap(grad(h))
    return (gradient(a) - gradient(b)).norm(dim=1) / (a - b).norm(dim=1)


def network_loss(seed: int) -> tuple[Function, Tensor]:
    """Squared loss of a tanh network with 17 weights on random targets."""
    generator = torch.Generator().manual_seed(seed)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = MLP(2, [4], 1, activation="tanh").double()
    x, y = (torch.randn(20, n, dtype=torch.float64, generator=generator) for n in (2, 1))
    return flattened(model, lambda f: losses.squared(f(x), y).mean())
