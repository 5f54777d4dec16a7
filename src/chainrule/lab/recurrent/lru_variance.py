"""Claim: γ = √(1 - |λ|²) gives all units of an LRU the same variance (J 5.2).

    h_t = λ h_{t-1} + γ (B x_t)_i,  x_t white noise   ⇒   E|h|² = γ² ‖B_i‖² / (1 - |λ|²) = ‖B_i‖²

Measured: layers with |λ| from 0.5 to 0.99 read `sequences` of Gaussian noise; the mean of |h|²
after a warm-up of 600 steps, and its distance from ‖B_i‖² in standard errors over the independent
sequences.
Bound: Student's quantile that all units together exceed for one seed in 10⁹; squares are skewed,
which costs slow units some powers of ten.
The notes leave out γ; slow units then have variances larger by 1 / (1 - |λ|²). Orvieto et al.
(2023), ICML.
"""

import torch
from scipy.stats import t

from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.models.recurrent.lru import LRU, normalization

INPUTS, UNITS, WARM, STEPS = 4, 12, 600, 400
LEVEL = 1e-9


def check(sequences: int = 64, seed: int = 0) -> Verdict:
    """With γ.

    Args:
        sequences: Independent sequences, at least 16.
    """
    return verdict(max(16, sequences), seed, normalized=True)


def broken() -> Verdict:
    """Without γ, as printed."""
    return verdict(64, 0, normalized=False)


def near() -> Near:
    """Predictions off by 10 %."""
    return ten_percent("‖B_i‖²", lambda factor: verdict(64, 0, normalized=True, scale=factor))


def verdict(sequences: int, seed: int, normalized: bool, scale: float = 1.0) -> Verdict:
    """Mean squares by |λ|."""
    means, errors = zip(
        *(squares(sequences, seed, kind) for kind in (normalized, False)), strict=True
    )
    distances = (means[0] - scale).abs() / errors[0]
    bound = float(t.isf(LEVEL / UNITS / 2, sequences - 1))
    r, fine = radii().tolist(), torch.linspace(0.5, 0.99, 100).tolist()
    return Verdict(
        quantity="largest |E|h|² - ‖B_i‖²|, standard errors",
        measured=distances.max().item(),
        relation="≤",
        bound=bound,
        picture=Picture(
            title="γ gives slow units the same variance as fast ones",
            x_label="|λ|",
            y_label="mean of |h|², in units of ‖B_i‖²",
            curves={
                "with γ: 1": ([fine[0], fine[-1]], [1.0, 1.0]),
                "without: 1 / (1 - |λ|²)": (fine, [1 / (1 - x * x) for x in fine]),
            },
            points={"with γ": (r, means[0].tolist()), "without γ": (r, means[1].tolist())},
            log="y",
        ),
    )


def radii() -> torch.Tensor:
    """|λ|, evenly spaced in the logarithm of 1 - |λ|."""
    return 1 - torch.logspace(-0.30103, -2, UNITS, dtype=torch.float64)


def squares(sequences: int, seed: int, normalized: bool) -> tuple[torch.Tensor, torch.Tensor]:
    """Mean of |h|² / ‖B_i‖² for every unit, and its standard error."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        layer = LRU(INPUTS, UNITS).double()
        x = torch.randn(sequences, WARM + STEPS, INPUTS, dtype=torch.float64)
    with torch.no_grad():
        layer.nu.copy_(torch.log(-torch.log(radii())))
        layer.log_gamma.copy_(normalization(layer.nu).log() if normalized else torch.zeros(UNITS))
        _, (h,) = layer.unroll(x, *layer.starting_state(x, None))
        each = h[:, WARM:].abs().square().mean(1) / layer.B.square().sum((0, 2))
    return each.mean(0), each.std(0) / sequences**0.5
