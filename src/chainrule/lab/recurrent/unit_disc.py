"""Claim: the eigenvalues of an LRU cannot leave the unit disc, however it is trained (J 5.2).

    λ = exp(-exp ν + i φ)   ⇒   |λ| = exp(-exp ν) < 1   for every ν

Measured: the largest |λ| of LRUs at initialization, for ν anywhere in [-30, 30], and after `steps`
steps with a rate far too large toward targets that grow by 5 % per time step, which only |λ| > 1
can follow.
Bound: below 1. In double precision exp(-exp ν) rounds to 1 for ν < -36.7, but never to more; in
single precision that limit is -16.6.
Orvieto et al. (2023), ICML. The notes use the same name for the layer of Feng et al. (2024), whose
eigenvalues are gates in (0, 1).
"""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from chainrule.lab.claim import Near, Picture, Verdict
from chainrule.models.recurrent.lru import eigenvalues, ring
from chainrule.nn.kernels.scan import scan

UNITS, LENGTH, GROWTH, RATE = 32, 40, 1.05, 0.3
Parametrization = Callable[[Tensor, Tensor], Tensor]


def check(steps: int = 100, seed: int = 0) -> Verdict:
    """λ parametrized by ν and φ.

    Args:
        steps: Training steps.
    """
    return verdict(eigenvalues, steps, seed)


def broken() -> Verdict:
    """|λ| = exp ν, which is inside the disc only for ν < 0."""
    return verdict(lambda nu, phi: torch.polar(torch.exp(nu), phi), 100, 0)


def near() -> Near:
    """Moduli that can exceed 1 by little."""

    def longer(factor: float) -> Verdict:
        return verdict(lambda nu, phi: factor * eigenvalues(nu, phi), 10, 0)

    return {f"|λ| × {factor}": partial(longer, factor) for factor in (1.1, 1.001)}


def verdict(lam: Parametrization, steps: int, seed: int) -> Verdict:
    """Largest modulus at initialization, for any ν, and after training at a huge rate."""
    generator = torch.Generator().manual_seed(seed)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        nu, phi = (t.double() for t in ring(UNITS, 0.5, 0.9, 2 * torch.pi))
    start = lam(nu, phi)
    wide = 60 * torch.rand(1000, dtype=torch.float64, generator=generator) - 30
    anywhere = lam(wide, torch.zeros_like(wide))
    end = trained(lam, nu.requires_grad_(), phi.requires_grad_(), steps)
    largest = torch.cat([start, anywhere, end]).abs().max().item()
    turn = torch.linspace(0, 2 * torch.pi, 200)
    circle = torch.polar(torch.ones(200), turn)
    return Verdict(
        quantity="largest |λ|",
        measured=largest,
        relation="<",
        bound=1.0,
        picture=Picture(
            title="Even when trained to grow, an LRU stays in the unit disc",
            x_label="Re λ",
            y_label="Im λ",
            points={
                "at the start": (start.real.tolist(), start.imag.tolist()),
                f"after {steps} steps at a huge rate": (end.real.tolist(), end.imag.tolist()),
            },
            bounds={"|λ| = 1": (circle.real.tolist(), circle.imag.tolist())},
        ),
        details={"at the start": start.abs().max().item(), "after": end.abs().max().item()},
    )


def trained(lam: Parametrization, nu: Tensor, phi: Tensor, steps: int) -> Tensor:
    """λ after descent on mean |log|h_T| - T log 1.05|, which asks every unit to grow."""
    optimizer = torch.optim.Adam([nu, phi], lr=RATE)
    b = torch.zeros(1, LENGTH, len(nu), dtype=torch.complex128)
    h = torch.ones(1, len(nu), dtype=torch.complex128)
    goal = LENGTH * torch.tensor(GROWTH, dtype=torch.float64).log()
    for _ in range(steps):
        optimizer.zero_grad()
        reached = scan(lam(nu, phi), b, h)[:, -1].abs().log()
        (reached - goal).abs().mean().backward()
        optimizer.step()
    return lam(nu, phi).detach()
