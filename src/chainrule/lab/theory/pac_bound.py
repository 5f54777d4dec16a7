"""Claim: the risks of a finite class lie within its PAC bound with probability 1 - δ (A 5).

    P(max_{h ∈ H} |R(h) - R̂(h)| > √((log |H| + log 2/δ) / 2n)) ≤ δ               any distribution
    P(some h with R̂(h) = 0 has R(h) > (log |H| + log 1/δ) / n) ≤ δ               realizable

Measured: |H| classifiers that err independently with risks from 0 to ½; the fraction of samples for
which a bound fails, and its distance above δ in standard errors.
Bound: 5; a binomial fraction exceeds it for one seed in 10⁶ or fewer.
Valiant (1984), CACM 27.
"""

import torch

from chainrule.lab.claim import Picture, Verdict
from chainrule.models.theory.bounds import consistent_risk, finite_class_gap

LEVEL = 5.0
NUMBERS = (25, 50, 100, 200, 400)


def check(hypotheses: int = 100, delta: float = 0.1, samples: int = 300, seed: int = 0) -> Verdict:
    """The bound for the whole class.

    Args:
        hypotheses: Number of classifiers |H|.
        delta: Failure probability δ.
        samples: Samples for each number of examples.
    """
    return verdict(hypotheses, delta, samples, seed, counted=hypotheses)


def broken() -> Verdict:
    """The bound for one hypothesis chosen before seeing the examples."""
    return verdict(100, 0.1, 300, 0, counted=1)


def verdict(hypotheses: int, failure: float, samples: int, seed: int, counted: int) -> Verdict:
    """Fractions of samples that break a bound; the picture shows the quantile of the gap."""
    generator = torch.Generator().manual_seed(seed)
    risks = torch.linspace(0, 0.5, hypotheses)
    error = (failure * (1 - failure) / samples) ** 0.5
    worst, typical = -float("inf"), []
    for n in NUMBERS:
        wrong = torch.rand(samples, n, hypotheses, generator=generator) < risks
        empirical = wrong.float().mean(1)
        gap = (empirical - risks).abs().amax(1)
        trusted = torch.where(empirical == 0, risks, 0.0).amax(1)
        for found, bound in (
            (gap, finite_class_gap(n, counted, failure)),
            (trusted, consistent_risk(n, counted, failure)),
        ):
            broke = (found > bound).double().mean().item()
            worst = max(worst, (broke - failure) / error)
        typical.append(gap.quantile(1 - failure).item())
    sizes = [float(n) for n in NUMBERS]
    return Verdict(
        quantity="largest (failing fraction - δ), standard errors",
        measured=worst,
        relation="≤",
        bound=LEVEL,
        picture=Picture(
            title=f"The worst of {hypotheses} hypotheses stays within the PAC bound",
            x_label="examples n",
            y_label="largest gap |R - R̂| over the class",
            points={f"exceeded by {failure:.0%} of the samples": (sizes, typical)},
            bounds={
                f"{hypotheses} hypotheses": (
                    sizes,
                    [finite_class_gap(n, hypotheses, failure) for n in NUMBERS],
                ),
                "one hypothesis, chosen beforehand": (
                    sizes,
                    [finite_class_gap(n, 1, failure) for n in NUMBERS],
                ),
            },
            log="xy",
        ),
        details={"samples": float(samples * len(NUMBERS))},
    )
