"""Claim: functions of one variable, applied to wᵀx, lift universality to n dimensions (J 2.4).

    p homogeneous of degree k in n variables     ⇒     p(x) = Σ_{i=1}^N c_i (w_iᵀx)ᵏ
    N = (n + k - 1 choose k) directions in general position suffice, and fewer do not
    |φ-network(t) - tᵏ| ≤ ε for |t| ≤ ‖w_i‖      ⇒     |p(x) - Σ_i c_i network(w_iᵀx)| ≤ ε Σ_i |c_i|

So whatever approximates powers of one variable approximates polynomials of n, which by Weierstrass
are dense (lemma 2.6).
Measured: the largest distance between random polynomials of degree k = 1 … 4 in n = 2 and 3
variables and their sums over N random directions, relative to the largest value, on random points.
Bound: 1e-10, rounding times the condition number of the directions. One direction fewer must miss
every polynomial by more than 1e-4. And with ReLU interpolants for tᵏ, the network of n inputs must
keep within ε Σ|c_i|, ε = k (k - 1) / 8m² for m pieces on each unit of [0, 1].
Pinkus (1999), Acta Numerica 8, who credits Vostrecov and Kreines (1961).
"""

from functools import partial
from math import comb
from typing import NamedTuple

import torch
from torch import Tensor

from chainrule.lab.claim import Near, Picture, Verdict
from chainrule.models.feedforward.relu_interpolant import ReLUInterpolant
from chainrule.nn.sup_norm import lattice

BOUND = 1e-10
MISSED = 1e-4
SIZES = tuple((n, k) for n in (2, 3) for k in (1, 2, 3, 4))
PIECES = (4, 8, 16, 32)


class Lifted(NamedTuple):
    """A polynomial at the points, its best sum of ridge functions, and what it is made of."""

    p: Tensor
    ridges: Tensor
    c: Tensor
    w: Tensor

    @property
    def missed(self) -> float:
        return ((self.p - self.ridges).abs().max() / self.p.abs().max()).item()


def check(points: int = 400, seed: int = 0) -> Verdict:
    """Directions in general position.

    Args:
        points: Random points of the unit sphere.
    """
    return verdict(points, seed)


def broken() -> Verdict:
    """Only the directions of the axes: sums of functions of one coordinate each."""
    return verdict(400, 0, axes=True)


def near() -> Near:
    """One direction too few, or two that are the same."""
    return {
        "one direction fewer": partial(verdict, 400, 0, left_out=1),
        "one direction twice": partial(verdict, 400, 0, repeated=True),
    }


def verdict(
    points: int, seed: int, axes: bool = False, left_out: int = 0, repeated: bool = False
) -> Verdict:
    """Random polynomials as sums of ridge functions, then as networks."""
    generator = torch.Generator().manual_seed(seed)
    missed, short, shares, errors = [], [], [], []
    for n, k in SIZES:
        N = comb(n + k - 1, k)
        x = torch.nn.functional.normalize(draw(points, n, generator), dim=1)
        w = torch.nn.functional.normalize(draw(20 * N, n, generator), dim=1)
        w = spread_out(w, N)
        if axes:
            w = torch.eye(n, dtype=torch.float64)
        if repeated and N > 1:
            w = torch.cat([w[:-1], w[:1]])
        p = polynomial(x, k, generator)
        lifted = lift(x, p, w[: len(w) - left_out], k)
        missed.append(lifted.missed)
        if N > 1:
            short.append(lift(x, p, w[:-1], k).missed)
        if k > 1:
            found = [network_error(x, lifted, k, m) for m in PIECES]
            limits = [k * (k - 1) / 8 / m**2 * lifted.c.abs().sum().item() for m in PIECES]
            shares += [e / b for e, b in zip(found, limits, strict=True)]
            errors = [(e, b) for e, b in zip(found, limits, strict=True)]
    m_axis = [float(m) for m in PIECES]
    return Verdict(
        quantity="largest relative |p - Σ_i c_i (w_iᵀx)ᵏ|",
        measured=max(missed),
        relation="≤",
        bound=BOUND,
        conditions={
            "one direction fewer does not suffice": min(short) > MISSED,
            "networks of one variable lift": max(shares) <= 1 + 1e-6,
        },
        picture=Picture(
            title="Networks of one variable, lifted to three",
            x_label="pieces m on [0, 1] of each interpolant",
            y_label="largest error for a polynomial of degree 4",
            points={"ReLU network of wᵢᵀx": (m_axis, [e for e, _ in errors])},
            bounds={"ε Σ|cᵢ|": (m_axis, [b for _, b in errors])},
            log="xy",
        ),
        details={
            "least missed with one direction fewer": min(short),
            "largest share of ε Σ|c_i|": max(shares),
        },
    )


def draw(rows: int, n: int, generator: torch.Generator) -> Tensor:
    return torch.randn(rows, n, generator=generator, dtype=torch.float64)


def spread_out(w: Tensor, N: int) -> Tensor:
    """N of the directions, each as far as possible from those before and their opposites."""
    chosen = [0]
    while len(chosen) < N:
        chosen.append(int((w @ w[chosen].T).abs().amax(1).argmin()))
    return w[chosen]


def polynomial(x: Tensor, k: int, generator: torch.Generator) -> Tensor:
    """A random homogeneous polynomial of degree k at the points."""
    powers = lattice(x.shape[1], k + 1)
    powers = powers[powers.sum(1) == k]
    coefficients = torch.randn(len(powers), generator=generator, dtype=torch.float64)
    return (x[:, None] ** powers).prod(2) @ coefficients


def lift(x: Tensor, p: Tensor, w: Tensor, k: int) -> Lifted:
    """The best c."""
    ridges = (x @ w.T) ** k
    c = torch.linalg.lstsq(ridges, p[:, None], driver="gelsd").solution[:, 0]
    return Lifted(p, ridges @ c, c, w)


@torch.no_grad()
def network_error(x: Tensor, lifted: Lifted, k: int, m: int) -> float:
    """|p - Σ_i c_i g(w_iᵀx)| with the interpolant g of tᵏ through 2m + 1 knots of [-1, 1]."""
    knots = torch.linspace(-1, 1, 2 * m + 1, dtype=torch.float64)
    g = ReLUInterpolant(knots, knots**k)
    z = x @ lifted.w.T
    values = g(z.flatten()[:, None])[:, 0].view(z.shape)
    return (lifted.ridges - values @ lifted.c).abs().max().item()
