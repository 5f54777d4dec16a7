"""Claim: gradient descent of step 1/L reaches h - h* ≤ ε in O(1/ε) steps on convex h (L, J 3.2).

    h convex, L-smooth   ⇒   h(θ_T) - h* ≤ L ‖θ⁰ - θ*‖² / (4T + 2)

Measured: the largest ratio of the gap to the bound along the library's gradient descent, on
logistic regression and on Huber functions, one of which attains the bound for every T.
Bound: 1, with 1e-9 for rounding; the Huber functions must attain it.
The textbook constant, 1/2T, is twice as large; none is better than 1/(4T + 2), as the Huber
functions show. L "Convexity", footnote. Drori and Teboulle (2014), Mathematical Programming 145.
"""

import torch
from torch import Tensor

from chainrule.autodiff.curvature import gradient_descent
from chainrule.autodiff.newton import newton
from chainrule.data.datasets.moons import sample
from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.lab.helpers.smooth import huber
from chainrule.learning import losses

ROUNDING = 1e-9
STEPS = (1, 2, 5, 10, 20, 50, 100, 200)


def check(examples: int = 100, seed: int = 0) -> Verdict:
    """Logistic regression on two moons, and a Huber function for every number of steps.

    Args:
        examples: Examples of the logistic regression.
    """
    return verdict(examples, seed, power=1.0)


def broken() -> Verdict:
    """A gap that falls like 1/T², as if O(1/√ε) steps were enough."""
    return verdict(50, 0, power=2.0)


def near() -> Near:
    """A power or a constant off by 10 %, and the textbook's constant."""
    return {
        **ten_percent("T's power", lambda factor: verdict(50, 0, power=factor)),
        **ten_percent("the 4", lambda factor: verdict(50, 0, power=1.0, slope=4 * factor)),
        "1 / 2T": lambda: verdict(50, 0, power=1.0, slope=2.0),
    }


def verdict(examples: int, seed: int, power: float, slope: float = 4.0) -> Verdict:
    """Gaps times L ‖θ⁰ - θ*‖² by the number of steps."""
    on_huber = [huber_gap(T) for T in STEPS]
    on_moons = gaps_on_moons(examples, seed)
    bound = [1 / (slope * T**power + 2) for T in STEPS]
    worst = max(
        gap / limit for gaps in (on_huber, on_moons) for gap, limit in zip(gaps, bound, strict=True)
    )
    tight = min(gap / limit for gap, limit in zip(on_huber, bound, strict=True))
    T = [float(steps) for steps in STEPS]
    return Verdict(
        quantity="largest (h - h*) (4T + 2) / (L ‖θ⁰ - θ*‖²)",
        measured=worst,
        relation="≤",
        bound=1 + ROUNDING,
        conditions={"attained by the Huber functions": tight >= 1 - ROUNDING},
        picture=Picture(
            title="Convex: ten times the steps, a tenth of the gap",
            x_label="steps T",
            y_label="gap h - h* in units of L ‖θ⁰ - θ*‖²",
            points={
                "a Huber function for every T": (T, on_huber),
                "logistic regression": (T, on_moons),
            },
            bounds={"1 / (4T + 2)": (T, bound)},
            log="xy",
        ),
    )


def huber_gap(T: int) -> float:
    """A Huber function of slope 1 / (2T + 1): T steps from θ⁰ = 1 stay on its linear part."""
    problem = huber(start=1.0, bend=1 / (2 * T + 1))
    return problem.h(gradient_descent(problem.h, problem.start, T, 1.0)[-1]).item()


def gaps_on_moons(examples: int, seed: int) -> list[float]:
    """After 1, 2, 5 … steps, h* found by Newton's method."""
    points, labels = sample(max(examples, 20), 0.3, seed)
    x = torch.cat([points.double(), torch.ones(len(points), 1)], 1)

    def h(theta: Tensor) -> Tensor:
        return losses.logistic(x @ theta, labels).mean()

    best = newton(h, torch.zeros(3, dtype=torch.float64), 30)[-1]
    L = torch.linalg.matrix_norm(x, 2).item() ** 2 / (4 * len(x))
    path = gradient_descent(h, torch.zeros(3, dtype=torch.float64), max(STEPS), 1 / L)
    return [((h(path[T]) - h(best)) / (L * best.square().sum())).item() for T in STEPS]
