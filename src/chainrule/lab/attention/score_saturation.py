"""Claim: without division by √d the softmax saturates: its derivative falls like 1/√d (L 8, J 6.1).

    a = σ(s_1 - s_2),    E a (1 - a) ≈ 1 / (2 √(π d))   for s = q·k;    constant for q·k/√d
                         E a (1 - a) → ¼                for s = cos(q, k): uniform weights

Measured: for unit normal queries and two keys, the mean of the derivative a (1 - a) of the larger
weight for the three scores, by dimension d. Distance from the exact expectation, an integral over
the distribution of s_1 - s_2, in standard errors.
Bound: the normal quantile that all means together exceed for one seed in 10⁶.
So dot products learn nothing in high dimensions, and cosines, which A's footnote offers instead,
choose nothing unless they are multiplied by a temperature. Vaswani et al. (2017). Notes: A 2.6.2.
"""

from collections.abc import Callable

import numpy as np
import torch
from scipy.special import expit, roots_gegenbauer
from scipy.stats import chi, norm
from torch import Tensor

from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.nn.attention_scores import cosine, dot, scaled_dot

LEVEL = 1e-6
DIMENSIONS = (4, 16, 64, 256)
NODES = 400  # quantiles of ‖q‖
Z = np.linspace(-40.0, 40.0, 4001)  # where a (1 - a) is not zero
SCORES: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "q·k": dot,
    "q·k / √d": scaled_dot,
    "cos(q, k)": cosine,
}


def check(samples: int = 20_000, seed: int = 0) -> Verdict:
    """Independent unit normal queries and keys.

    Args:
        samples: Queries for each d, with two keys each.
    """
    return verdict(samples, seed)


def broken() -> Verdict:
    """Both keys are nearly the same."""
    return verdict(20_000, 0, shared=0.9)


def near() -> Near:
    """Other predictions, and keys that are not quite independent."""
    return {
        **ten_percent("a (1 - a)", lambda factor: verdict(20_000, 0, factor=factor)),
        **ten_percent("exponent of d", lambda factor: verdict(20_000, 0, power=factor)),
        "keys of correlation 0.1": lambda: verdict(20_000, 0, shared=0.1),
    }


def verdict(
    samples: int, seed: int, factor: float = 1.0, power: float = 1.0, shared: float = 0.0
) -> Verdict:
    """Mean derivatives of the softmax of two scores."""
    generator = torch.Generator().manual_seed(seed)
    found: dict[str, list[float]] = {name: [] for name in SCORES}
    predicted: dict[str, list[float]] = {name: [] for name in SCORES}
    distances = []
    for d in DIMENSIONS:
        q = torch.randn(samples, 1, d, generator=generator)
        k = torch.randn(samples, 2, d, generator=generator)
        k[:, 1] = shared * k[:, 0] + (1 - shared**2) ** 0.5 * k[:, 1]
        for name, score in SCORES.items():
            a = score(q, k)[:, 0].double().softmax(1)
            slope = a.prod(1)
            found[name].append(slope.mean().item())
            predicted[name].append(factor * expected(name, d**power))
            error = slope.std().item() / samples**0.5
            distances.append(abs(found[name][-1] - predicted[name][-1]) / error)
    x = [float(d) for d in DIMENSIONS]
    return Verdict(
        quantity="largest |mean a (1 - a) - expected|, standard errors",
        measured=max(distances),
        relation="≤",
        bound=float(norm.isf(LEVEL / 2 / len(distances))),
        picture=Picture(
            title="Dot products saturate the softmax; cosines leave it flat",
            x_label="dimension d of queries and keys",
            y_label="mean derivative a (1 - a)",
            curves={name: (x, values) for name, values in predicted.items()},
            points={name: (x, values) for name, values in found.items()},
            bounds={"1 / (2 √(π d))": (x, [0.5 / (np.pi * d) ** 0.5 for d in DIMENSIONS])},
            log="xy",
        ),
        details={f"{name}, d = {DIMENSIONS[-1]}": found[name][-1] for name in SCORES},
    )


def expected(name: str, d: float) -> float:
    """E a (1 - a) in d dimensions."""
    if name == "cos(q, k)":
        c, weight = roots_gegenbauer(
            40, (d - 2) / 2
        )  # the density of a cosine is (1 - c²)^{(d-3)/2}
        weight = weight / weight.sum()
        return float(weight @ slope_of(c[:, None] - c) @ weight)
    length = chi(d).ppf((np.arange(NODES) + 0.5) / NODES)
    std = np.sqrt(2) * length / (1.0 if name == "q·k" else np.sqrt(d))  # of s_1 - s_2, given q
    density = norm.pdf(Z[:, None] / std) / std
    return float((slope_of(Z) @ density).mean() * (Z[1] - Z[0]))


def slope_of(z: np.ndarray) -> np.ndarray:
    """σ(z) (1 - σ(z))."""
    return np.asarray(expit(z) * expit(-z))
