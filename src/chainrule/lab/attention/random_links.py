"""Claim: r random links per position let signals reach all n positions in about log n layers (L 8).

    layers ≈ log n / log λ + const,     λ² = (r + 1) λ + r       window of 1 and r random links
    layers = ⌈(n - 1)/w⌉ from end to end with a window of w alone,     2 with a global token

A position reached by a random link reaches two neighbors and r random positions in the next layer;
one reached from its neighbor reaches the neighbor on its other side and r random positions. So the
numbers s and e of both kinds follow s ← r (s + e), e ← 2 s + e, a map of eigenvalue λ: as long as
few have been reached, λ times as many are reached in each layer.

Measured: from the masks of the library's layer, the layers that connect two positions, averaged
over positions and over draws of the links; the growth of this mean by log n, times log λ.
Bound: 1 ± 0.04, of which the finite n takes 0.02 (it falls with n, see the details) and 5 standard
errors of 0.004 the rest, both measured over 20 seeds. The other two numbers must be exact.
Zaheer et al. (2020); Newman and Watts (1999), Phys. Rev. E 60, for the growth.
"""

import math

import torch
from torch import Tensor

from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.models.attention.bigbird import BigBirdAttention

LINKS = 2
LENGTHS = (64, 128, 256, 512)
FITTED = LENGTHS[1:]
STARTS = 128
TOLERANCE = 0.04


def check(draws: int = 24, seed: int = 0) -> Verdict:
    """Two random links for each position.

    Args:
        draws: Draws of the random links for each length.
    """
    return verdict(draws, seed, LINKS)


def broken() -> Verdict:
    """No random links."""
    return verdict(1, 0, 0)


def near() -> Near:
    """Another growth; links that are missing."""
    return {
        **ten_percent("log λ", lambda factor: verdict(4, 0, LINKS, growth(LINKS) ** factor)),
        "λ = r + 1, random links alone": lambda: verdict(4, 0, LINKS, LINKS + 1.0),
        "λ = r + 2, two neighbors each": lambda: verdict(4, 0, LINKS, LINKS + 2.0),
        "a tenth of the links missing": lambda: verdict(4, 0, LINKS, missing=0.1),
    }


def verdict(
    draws: int, seed: int, links: int, lam: float | None = None, missing: float = 0.0
) -> Verdict:
    """Mean number of layers by length."""
    lam = growth(LINKS) if lam is None else lam
    found = {n: mean_over_draws(n, draws, seed, links, missing) for n in LENGTHS}
    per_log = slope([math.log(n) for n in FITTED], [found[n] for n in FITTED])
    last = torch.tensor([-1])
    window = {n: layers(mask(n, 0, 0), last) for n in LENGTHS}
    hub = {n: layers(mask(n, 0, 0, hub=1), last) for n in LENGTHS}
    n = [float(length) for length in LENGTHS]
    exact = all(window[k].max() == k - 1 and hub[k].max() == 2 for k in LENGTHS)
    predicted = [found[FITTED[0]] + math.log(k / FITTED[0]) / math.log(lam) for k in LENGTHS]
    doublings = {f"layers added from {k} to {2 * k}": found[2 * k] - found[k] for k in LENGTHS[:-1]}
    return Verdict(
        quantity="|growth of the layers by log n · log λ - 1|",
        measured=abs(per_log * math.log(lam) - 1),
        relation="≤",
        bound=TOLERANCE,
        conditions={"a window alone takes n - 1 layers, a global token 2": exact},
        picture=Picture(
            title="Random links connect all positions in about log n layers",
            x_label="length n",
            y_label="mean layers between two positions",
            curves={
                "window alone, from the end": (n, [(k - 1) / 2 for k in n]),
                f"growth by log n / log {lam:.2f}": (n, predicted),
            },
            points={
                "window alone, from the end": (n, [window[k].mean().item() for k in LENGTHS]),
                f"window and {links} random links": (n, list(found.values())),
                "window and a global token, from the end": (
                    n,
                    [hub[k].mean().item() for k in LENGTHS],
                ),
            },
            log="xy",
        ),
        details=doublings | {"predicted for each doubling": math.log(2) / math.log(lam)},
    )


def growth(links: int) -> float:
    """λ, the largest root of λ² = (r + 1) λ + r."""
    return (links + 1 + math.sqrt((links + 1) ** 2 + 4 * links)) / 2


def mean_over_draws(n: int, draws: int, seed: int, links: int, missing: float) -> float:
    """Mean layers between two positions, from up to `STARTS` of them in every draw."""
    generator = torch.Generator().manual_seed(10**9 + seed)  # not one of a layer
    total = 0.0
    for draw in range(draws):
        allowed = mask(n, links, 1000 * seed + draw)
        near_by = mask(n, 0, 0)
        dropped = torch.rand(n, n, generator=generator) < missing
        starts = torch.randperm(n, generator=generator)[:STARTS]
        total += layers(allowed & (near_by | ~dropped), starts).mean().item()
    return total / draws


def mask(n: int, links: int, seed: int, hub: int = 0) -> Tensor:
    """Which positions a position may attend to, by a layer with a window of one."""
    layer = BigBirdAttention(2, 1, window=1, global_tokens=hub, random_blocks=links, seed=seed)
    return layer.mask(n)[0, 0]


def layers(allowed: Tensor, starts: Tensor) -> Tensor:
    """The number of layers after which each start has heard from each position."""
    links = allowed.float()
    reached = torch.eye(len(links))[starts]
    found = torch.zeros_like(reached)
    while not reached.all():
        found += reached == 0
        reached = ((reached @ links) > 0).float()
    return found


def slope(x: list[float], y: list[float]) -> float:
    """Of the line of least squares."""
    a, b = torch.tensor(x, dtype=torch.float64), torch.tensor(y, dtype=torch.float64)
    a = a - a.mean()
    return ((a * b).sum() / a.square().sum()).item()
