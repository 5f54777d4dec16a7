"""Claim: T steps of size 1/L find ‖∇h‖² ≤ 4L (h(θ⁰) - h*) / (3T + 2), within lemma 3.2 (J 3.2).

    h(θ_t) - h(θ_{t+1})  ≥  (½ ‖∇h(θ_t)‖² + ¼ ‖∇h(θ_{t+1})‖²) / L         for any L-smooth h
    h(θ_T) - h*          ≥  ½ ‖∇h(θ_T)‖² / L
    added up:   min_{t≤T} ‖∇h(θ_t)‖²  ≤  4L (h(θ⁰) - h*) / (3T + 2)  ≤  2L (h(θ⁰) - h*) / (T + 1)

The last is J's lemma: ‖∇h‖ ≤ ε within 2L (h(θ⁰) - h*) / ε² steps. J leaves its proof open.
Measured: the least squared gradient along the library's gradient descent, divided by the bound, on
functions whose h* is known: sigmoid units fitted to the outputs of another, where h* = 0 and h is
not convex, and for every T the worst function there is; the largest ratio.
Bound: 1, with 1e-9 for rounding. The worst functions must attain it, and for T = 0 J's lemma too.
J's constant is sharp for one step only; for many, 2/3 of his steps are enough.
Nesterov (2004), section 1.2.3; Abbaszadehpeivasti, de Klerk and Zamani (2022).
"""

import torch
from torch import Tensor
from torch.func import grad, vmap

from chainrule.autodiff.curvature import gradient_descent
from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.lab.helpers.smooth import Smooth, sigmoid_unit

STEPS = (0, 1, 2, 5, 10, 30, 100, 300)
ROUNDING = 1e-9


def check(units: int = 3, seed: int = 0) -> Verdict:
    """The sharp constants.

    Args:
        units: Random sigmoid units.
    """
    return verdict(units, seed)


def broken() -> Verdict:
    """A bound that falls like 1/T², as if O(1/ε) steps were enough."""
    return verdict(1, 0, power=2.0)


def near() -> Near:
    """Constants and a power off by 10 %, and J's constant as if it were sharp for every T."""
    return {
        **ten_percent("4L", lambda factor: verdict(1, 0, top=4 * factor)),
        **ten_percent("3T", lambda factor: verdict(1, 0, slope=3 * factor)),
        **ten_percent("J's 2L", lambda factor: verdict(1, 0, notes=2 * factor)),
        "T^1.1": lambda: verdict(1, 0, power=1.1),
        "2L / (T + 1) attained": lambda: verdict(1, 0, slope=2.0, offset=2.0),
    }


def verdict(
    units: int,
    seed: int,
    top: float = 4.0,
    slope: float = 3.0,
    offset: float = 2.0,
    power: float = 1.0,
    notes: float = 2.0,
) -> Verdict:
    """min ‖∇h‖² / (L (h(θ⁰) - h*)) by T against top / (slope T + offset) and notes / (T + 1)."""
    generator = torch.Generator().manual_seed(seed)
    on_worst = [least_gradients(zigzag(T), T)[T] for T in STEPS]
    smooths = [sigmoid_unit(generator, realizable=True) for _ in range(units)]
    along = [least_gradients(unit, STEPS[-1]) for unit in smooths]
    on_units = [[found[T] for T in STEPS] for found in along]
    bound = [top / (slope * T**power + offset) for T in STEPS]
    lemma = [notes / (T + 1) for T in STEPS]
    share = [found / limit for found, limit in zip(on_worst, bound, strict=True)]
    on_unit = max(f / b for row in on_units for f, b in zip(row, bound, strict=True))
    of_lemma = [found / limit for found, limit in zip(on_worst, lemma, strict=True)]
    x = [T + 1.0 for T in STEPS]
    return Verdict(
        quantity="largest min ‖∇h‖² (3T + 2) / (4L (h(θ⁰) - h*))",
        measured=max(*share, on_unit),
        relation="≤",
        bound=1 + ROUNDING,
        conditions={
            "the worst functions attain it": min(share) >= 1 - ROUNDING,
            "J's lemma holds and is attained for T = 0": max(of_lemma) <= 1 + ROUNDING
            and of_lemma[0] >= 1 - ROUNDING,
        },
        picture=Picture(
            title="The least gradient of T steps is within the sharp bound",
            x_label="gradients seen, T + 1",
            y_label="least ‖∇h‖² in units of L (h(θ⁰) - h*)",
            points={
                "worst function for every T": (x, on_worst),
                "sigmoid units": (
                    x * units,
                    [max(found, 1e-8) for row in on_units for found in row],
                ),
            },
            bounds={"sharp, 4 / (3T + 2)": (x, bound), "theorem, 2 / (T + 1)": (x, lemma)},
            log="xy",
        ),
        details={
            "share of the bound used, worst function": min(share),
            "share of the bound used, sigmoid units": on_unit,
            "share of J's lemma used, T = 300": of_lemma[-1],
        },
    )


def zigzag(T: int) -> Smooth:
    """h' = -1 at 0, 1, … T, with slopes ±1 between and a minimum at T + 1: h* = 0, L = 1.

    A step of 1 falls by ∫ |h'| = 3/4, the least that slopes of ±1 allow between two such points.
    """

    def h(theta: Tensor) -> Tensor:
        cell = theta.detach().floor().clamp(0, T)
        u = theta - cell
        rise = 0.5 * u**2
        tent = torch.where(u <= 0.5, rise, 0.25 - 0.5 * (1 - u) ** 2)
        return 0.75 * T + 0.5 - 0.75 * cell - u + torch.where(cell < T, tent, rise)

    return Smooth(h, torch.zeros((), dtype=torch.float64), 1.0)


def least_gradients(smooth: Smooth, steps: int) -> list[float]:
    """min_{t≤T} ‖∇h(θ_t)‖² / (L h(θ⁰)) for T = 0 … steps, where h* = 0."""
    path = gradient_descent(smooth.h, smooth.start, steps, 1 / smooth.L)
    squares = vmap(grad(smooth.h))(path).reshape(len(path), -1).square().sum(1)
    height = smooth.L * smooth.h(smooth.start)
    return (squares.cummin(0).values / height).tolist()
