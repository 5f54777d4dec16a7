"""Claim: orthogonal layers and their products have singular values 1 (J 8.1).

    WᵀW = I   ⇒   σ_i(W_L ⋯ W_1) = 1 for all i:   ‖W_L ⋯ W_1 x‖ = ‖x‖, forward and backward

Measured: the largest |σ_i - 1| of products of 1 … `num_layers` layers.
Bound: 1e-12, a hundred times the rounding of the products in double precision.
J says the eigenvalues are ±1. They lie on the unit circle, λ = e^{iφ}, in conjugate pairs. Saxe,
McClelland and Ganguli (2013), Hu, Xiao and Pennington (2020).
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.nn.initialization import initialize

BOUND = 1e-12


def check(width: int = 64, num_layers: int = 6, seed: int = 0) -> Verdict:
    """Singular values.

    Args:
        width: Units of every layer.
        num_layers: Layers in the longest product.
    """
    return verdict(width, num_layers, seed, torch.linalg.svdvals)


def broken() -> Verdict:
    """Real parts of the eigenvalues, which are not ±1 as printed."""
    return verdict(64, 2, 0, lambda W: torch.linalg.eigvals(W).real.abs())


def near() -> Near:
    """Products that are longer or shorter."""

    def scaled(factor: float) -> Verdict:
        return verdict(64, 2, 0, lambda W: torch.linalg.svdvals(factor * W))

    return ten_percent("W", scaled)


def verdict(width: int, layers: int, seed: int, spectrum: Callable[[Tensor], Tensor]) -> Verdict:
    """Products of orthogonal layers, beside products of Gaussian ones."""
    with torch.random.fork_rng([]):
        torch.manual_seed(seed)
        orthogonal = products(width, layers, "orthogonal")
        gaussian = products(width, layers, "lecun")
    worst = max((spectrum(W) - 1).abs().max().item() for W in orthogonal)
    eigenvalues = torch.linalg.eigvals(orthogonal[0])
    ranks = [float(rank) for rank in range(1, width + 1)]
    return Verdict(
        quantity="largest |σ_i - 1|",
        measured=worst,
        relation="≤",
        bound=BOUND,
        picture=Picture(
            title=f"{layers} orthogonal layers keep all directions, {layers} Gaussian ones few",
            x_label=f"singular values of the product, from the largest to the {width}th",
            y_label="singular value",
            curves={"orthogonal": ([1.0, float(width)], [1.0, 1.0])},
            points={
                "orthogonal": (ranks[::3], torch.linalg.svdvals(orthogonal[-1]).tolist()[::3]),
                f"{layers} Gaussian layers": (
                    ranks[::3],
                    torch.linalg.svdvals(gaussian[-1]).tolist()[::3],
                ),
                "one Gaussian layer": (
                    ranks[::3],
                    torch.linalg.svdvals(gaussian[0]).tolist()[::3],
                ),
            },
            log="y",
        ),
        details={"eigenvalues off the real axis": float((eigenvalues.imag.abs() > 1e-9).sum())},
    )


def products(width: int, layers: int, scheme: str) -> list[Tensor]:
    """W_1, W_2 W_1, …"""
    found = [torch.eye(width, dtype=torch.float64)]
    for _ in range(layers):
        layer = nn.Linear(width, width, bias=False, dtype=torch.float64)
        found.append(initialize(layer, scheme).weight.detach() @ found[-1])
    return found[1:]
