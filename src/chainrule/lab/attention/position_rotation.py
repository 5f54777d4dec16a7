"""Claim: moving k positions ahead is one rotation for every start: p_{t+k} = R_k p_t (J 6.3).

    p_{t,2i} = sin tω_i,  p_{t,2i+1} = cos tω_i,  ω_i = 10000^{-2i/d}:   R_k turns pair i by k ω_i
    ⇒   p_t · p_{t+k} = Σ_i cos kω_i          for every t

Measured: the largest entry of p_{t+k} - R_k p_t over positions t and offsets k, and of R_kᵀR_k - I.
Bound: 1e-11 in double precision: angles of up to 10³ radians carry a rounding error of 10⁻¹³.
J prints ω_k = C^{k/d}, and A 2.6.1 also gives every component its own frequency. Then sine and
cosine of the same angle never occur together, and no matrix gives the offset. Vaswani et al.
(2017).
"""

from collections.abc import Callable

import torch
from torch import Tensor

from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.nn.positions import BASE, rotation, sinusoidal

ROUNDING = 1e-11
STEPS = (1, 2, 5, 10, 20, 50)
STARTS = (0, 30, 300)


def check(hidden_size: int = 64, positions: int = 600) -> Verdict:
    """Sine and cosine share a frequency.

    Args:
        hidden_size: Components d of a position vector.
        positions: Positions t.
    """
    p = sinusoidal(positions, hidden_size, like=torch.zeros(0, dtype=torch.float64))
    return verdict(p, lambda k: rotation(k, hidden_size))


def broken() -> Verdict:
    """One frequency for each component, with the best-fitting matrix for each offset."""
    p = as_printed(600, 64)
    return verdict(p, lambda k: fitted(p, k))


def near() -> Near:
    """Rotations by almost the right angle, or not quite rotations."""
    p = sinusoidal(600, 64, like=torch.zeros(0, dtype=torch.float64))
    return {
        "one offset more": lambda: verdict(p, lambda k: rotation(k + 1, 64)),
        **ten_percent("R_k", lambda factor: verdict(p, lambda k: factor * rotation(k, 64))),
    }


def verdict(p: Tensor, step: Callable[[int], Tensor]) -> Verdict:
    """Offsets against matrices."""
    identity = torch.eye(p.shape[1], dtype=p.dtype)
    worst = 0.0
    for k in STEPS:
        R = step(k)
        missed = (p[k:] - p[:-k] @ R.T).abs().max().item()
        worst = max(worst, missed, (R.T @ R - identity).abs().max().item())
    printed = as_printed(*p.shape)
    best = printed[1:] - printed[:-1] @ fitted(printed, 1).T
    every = list(range(0, 61, 3))
    return Verdict(
        quantity="largest entry of p_{t+k} - R_k p_t, R_kᵀR_k - I",
        measured=worst,
        relation="≤",
        bound=ROUNDING,
        picture=Picture(
            title="The similarity of two positions depends only on their distance",
            x_label="distance k",
            y_label="cosine between p_t and p_{t+k}",
            curves={"mean of cos kω": ([float(k) for k in range(61)], expected(p.shape[1]))},
            points={
                **{f"from t = {t}": likeness(p, t, every[i::3]) for i, t in enumerate(STARTS)},
                "as printed in J, from t = 30": likeness(printed, 30, every),
            },
        ),
        details={"as printed, error of the best matrix": best.abs().max().item()},
    )


def fitted(p: Tensor, k: int) -> Tensor:
    """The least-squares solution R of p_{t+k} = R p_t."""
    return torch.linalg.lstsq(p[:-k], p[k:], rcond=1e-8, driver="gelsd").solution.T


def expected(width: int) -> list[float]:
    """Σ_i cos kω_i / (d/2) for k from 0 to 60: the trace of R_k, by the number of entries."""
    return [rotation(k, width).trace().item() / width for k in range(61)]


def likeness(p: Tensor, t: int, offsets: list[int]) -> tuple[list[float], list[float]]:
    """The offsets k and cos(p_t, p_{t+k})."""
    found = torch.cosine_similarity(p[[t + k for k in offsets]], p[t], 1)
    return [float(k) for k in offsets], found.tolist()


def as_printed(positions: int, width: int) -> Tensor:
    """sin tω_k for even k and cos tω_k for odd k, with ω_k = C^{k/d} and C = 1/10000."""
    t, k = torch.arange(positions)[:, None], torch.arange(width)
    angle = t * BASE ** (-k.double() / width)
    return torch.where(k % 2 == 0, angle.sin(), angle.cos())
