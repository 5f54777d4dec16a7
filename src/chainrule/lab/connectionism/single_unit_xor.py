"""Claim: no single McCulloch-Pitts unit computes XOR (J 1.1).

    {x ↦ 1{σᵀx ≥ θ} | σ ∈ {-1, +1}ⁿ, θ ∈ ℝ}   contains   x ↦ x₁ + … + xₙ mod 2   only if n = 1

Measured: over all signs σ and all thresholds that make a difference (σᵀx is a whole number from -n
to n), the number of units that compute the parity of n = 2 … `inputs` bits.
Bound: exactly 0, by enumeration.
For n = 1 the unit σ = 1, θ = 1 does. The picture counts the different functions of one unit.
"""

from itertools import product

import torch
from torch import Tensor

from chainrule.lab.claim import Near, Picture, Verdict
from chainrule.models.connectionism.mcculloch_pitts import logical_xor, threshold


def check(inputs: int = 6) -> Verdict:
    """All units of up to that many inputs.

    Args:
        inputs: Largest number of inputs n.
    """
    return verdict({n: single(n) for n in range(2, inputs + 1)})


def broken() -> Verdict:
    """Networks of units: three are enough."""
    return verdict({2: torch.cat([single(2), logical_xor()(bits(2)).T])})


def near() -> Near:
    """One input, or a second threshold above which the unit is silent again."""
    fires = single(2).unflatten(0, (-1, 4))  # (threshold, sign, input)
    return {
        "n = 1 included": lambda: verdict({n: single(n) for n in range(1, 4)}),
        "θ ≤ σᵀx < θ + 1": lambda: verdict({2: (fires[:-1] - fires[1:]).flatten(0, 1)}),
    }


def verdict(tables: dict[int, Tensor]) -> Verdict:
    """Units, given as tables (unit, input) of their values, that equal the parity."""
    found = sum(int((t == bits(n).sum(1) % 2).all(1).sum()) for n, t in tables.items())
    sizes = [float(n) for n in tables]
    return Verdict(
        quantity="units that compute XOR",
        measured=float(found),
        relation="=",
        bound=0.0,
        picture=Picture(
            title="One threshold unit computes few of the functions of n bits",
            x_label="inputs n",
            y_label="different functions",
            curves={"all functions, 2 to the 2ⁿ": (sizes, [2.0**2**n for n in tables])},
            points={"of one unit": (sizes, [float(len(t.unique(dim=0))) for t in tables.values()])},
            log="y",
        ),
        details={"units tried": float(sum(map(len, tables.values())))},
    )


def single(n: int) -> Tensor:
    """(unit, input): the values of every unit of n inputs; with θ = n + 1 it never fires."""
    signs = torch.tensor(list(product([-1.0, 1.0], repeat=n)))
    thresholds = torch.arange(-n, n + 2.0)
    return torch.cat([threshold(bits(n), signs, t.expand(len(signs))).T for t in thresholds])


def bits(n: int) -> Tensor:
    """(2ⁿ, n): all inputs."""
    return torch.tensor(list(product([0.0, 1.0], repeat=n)))
