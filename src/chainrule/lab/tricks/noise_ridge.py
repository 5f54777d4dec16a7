"""Claim: Gaussian noise on the inputs of a linear model is ridge regression (L "Tricks", J 8.7).

    E Σ_i (wᵀ(x_i + σ ε_i) - y_i)² = Σ_i (wᵀx_i - y_i)² + N σ² ‖w‖²,       ε ~ N(0, I)

so least squares on more and more noisy copies of N examples tends to ridge with λ = N σ².
Measured: the weights of least squares on noisy copies of the diabetes data, over independent
repeats; the largest distance from the ridge solution, in standard errors.
Bound: Student's quantile that all weights and σ together exceed for one seed in 10⁶; with this many
copies the bias is much smaller than the spread.
Bishop (1995), Neural Computation 7.
"""

from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.lab.helpers.diabetes_regression import standardized_diabetes
from chainrule.lab.helpers.noisy_inputs import DRAWN, distance, fits, ridge
from chainrule.learning.augmentation import gaussian_noise

SIGMAS = (0.1, 0.2, 0.4, 0.7, 1.0, 1.5)


def check(copies: int = 40, repeats: int = 60, seed: int = 0) -> Verdict:
    """λ = N σ².

    Args:
        copies: Noisy copies of the data in each fit.
        repeats: Independent fits, at least 2.
    """
    return verdict(copies, repeats, seed, share=1.0)


def broken() -> Verdict:
    """λ = ½ N σ²."""
    return verdict(20, 10, 0, share=0.5)


def near() -> Near:
    """Other penalties."""
    return ten_percent("λ", lambda factor: verdict(40, 60, 0, share=factor))


def verdict(copies: int, repeats: int, seed: int, share: float) -> Verdict:
    """Weights by σ."""
    x, y = standardized_diabetes()
    found = fits(x, y, [gaussian_noise(sigma) for sigma in SIGMAS], copies, repeats, seed)
    penalties = [share * len(x) * sigma**2 for sigma in SIGMAS]
    worst, bound = distance(found, [ridge(x, y, penalty) for penalty in penalties])
    fine = [0.01 + step / 40 for step in range(61)]
    paths = [ridge(x, y, share * len(x) * sigma**2) for sigma in fine]
    return Verdict(
        quantity="largest |weight - ridge weight|, standard errors",
        measured=worst,
        relation="≤",
        bound=bound,
        picture=Picture(
            title="Noise on the inputs shrinks weights as ridge regression does",
            x_label="noise σ, in standard deviations of the input",
            y_label="weight (progression per standard deviation)",
            curves={name: (fine, [w[j].item() for w in paths]) for name, j in DRAWN.items()},
            points={
                name: (list(SIGMAS), [w[:, j].mean().item() for w in found])
                for name, j in DRAWN.items()
            },
        ),
        details={"examples": float(len(x)), "total copies": float(copies * repeats)},
    )
