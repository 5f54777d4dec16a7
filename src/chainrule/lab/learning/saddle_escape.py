"""Claim: descent leaves a saddle after ln(1/ε) / ln(1 + ηλ) steps, sooner with momentum (A 1.3.10).

    curvature -λ along y:   y_{t+1} = (1 + ηλ) y_t + β (y_t - y_{t-1}),   y_0 = y_{-1} = ε
    y_t = ε (a zᵗ + (1 - a) wᵗ),   z > w roots of z² - (1 + β + ηλ) z + β,   a = z (1 - w)/(z - w)
    |y| = 1 after   T = ⌈ln(1/aε) / ln z⌉ steps       (wᵗ has died out)
    β = 0:  a = 1,  z = 1 + ηλ                β > 0:  z ≈ 1 + ηλ/(1 - β), for small ηλ

Measured: steps of the library's `gd` and `momentum` until |y| ≥ 1 on ½ (x² - λ y²), for three ηλ
and starts ε = 10⁻² … 10⁻⁸, against T; the largest difference. Also steps until |y| ≥ 0.03 of a
linear network w₂ w₁ x fitted to y = x by squared loss, whose origin is a saddle with λ = 1.
Bound: 1 step. A logarithm next to a whole number may round either way; wᵗ, and on the network the
change of λ by ½ y², delay by a fraction of a step: Σ_t ½ y_t² ≈ y²/4ηλ.
From ε = 0 neither ever leaves: momentum shortens the way, but does not start it. Notes: A 1.3.9,
J 3.3. Lee et al. (2016); Dauphin et al. (2014).
"""

import math
from itertools import product

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.learning import losses
from chainrule.learning.optimizers import optimizer
from chainrule.models.feedforward.mlp import MLP

DISTANCES = (1e-2, 1e-4, 1e-6, 1e-8)
RATES = (0.02, 0.05, 0.2)  # ηλ
BETAS = {"plain": 0.0, "momentum 0.9": 0.9}
NEVER = 1000
NEARBY = 0.03  # |y| on the network, where h is still a saddle of curvature -1


def check() -> Verdict:
    """ηλ and β as the optimizers have them."""
    return verdict()


def broken() -> Verdict:
    """Momentum as nothing but a rate of ηλ/(1 - β)."""
    return verdict(as_rate=True)


def near() -> Near:
    """Curvature, momentum or the logarithm of the distance off by 10 %."""
    return {
        **ten_percent("λ", lambda factor: verdict(curvature=factor)),
        **ten_percent("β", lambda factor: verdict(beta_scale=factor)),
        **ten_percent("ln(1/ε)", lambda factor: verdict(log_scale=factor)),
    }


def verdict(
    curvature: float = 1.0, beta_scale: float = 1.0, log_scale: float = 1.0, as_rate: bool = False
) -> Verdict:
    """Steps measured and predicted, with λ = 1."""

    def formula(rate: float, beta: float, distance: float, reached: float = 1.0) -> float:
        if as_rate:
            a, z = 1.0, 1 + rate / (1 - beta)
        else:
            a, z = growth(curvature * rate, beta_scale * beta)
        way = math.log(reached / distance) * log_scale - math.log(a)
        return float(math.ceil(way / math.log(z)))

    cases = list(product(RATES, BETAS.values()))
    found = {case: steps(*case) for case in cases}
    off = [abs(T - formula(*c, e)) for c in cases for T, e in zip(found[c], DISTANCES, strict=True)]
    on_network = [
        abs(network_steps(beta, e) - formula(RATES[0], beta, e, NEARBY))
        for beta, e in product(BETAS.values(), DISTANCES[1:3])
    ]
    shown = {name: found[RATES[0], beta] for name, beta in BETAS.items()}
    fine = [10 ** (-k / 4) for k in range(2, 34)]
    return Verdict(
        quantity="largest |steps to leave - formula|",
        measured=max(*off, *on_network),
        relation="≤",
        bound=1.0,
        conditions={"on the ridge itself nothing moves": ridge()},
        picture=Picture(
            title="The way from a saddle grows like ln(1/ε); momentum 0.9 takes a fifth of it",
            x_label="distance ε from the ridge at the start",
            y_label="steps until |y| = 1, for ηλ = 0.02",
            curves={n: (fine, [formula(0.02, b, e) for e in fine]) for n, b in BETAS.items()},
            points={name: (list(DISTANCES), found) for name, found in shown.items()},
            log="x",
        ),
        details={f"steps from 10⁻⁶, {name}": T[2] for name, T in shown.items()}
        | {"difference on the linear network": max(on_network)},
    )


def growth(rate: float, beta: float) -> tuple[float, float]:
    """a and z."""
    half = (1 + beta + rate) / 2
    apart = math.sqrt(half**2 - beta)
    z, w = half + apart, half - apart
    return z * (1 - w) / (z - w), z


def quadratic(theta: Tensor) -> Tensor:
    """½ (x² - y²), one value per row (x, y)."""
    return 0.5 * (theta[:, 0] ** 2 - theta[:, 1] ** 2)


def network_steps(beta: float, distance: float) -> float:
    """Steps of training until (w₁ + w₂)/√2 has grown from that distance to `NEARBY`."""
    model = MLP(1, [1], 1, activation="identity", output_bias=False).double()
    weights = [p for p in model.parameters() if p.ndim > 1]
    for parameter in model.parameters():
        nn.init.constant_(parameter, distance / 2**0.5 if parameter.ndim > 1 else 0.0)
    chosen = chosen_optimizer(list(model.parameters()), RATES[0], beta)
    x = torch.tensor([[-1.0], [1.0]], dtype=torch.float64)
    for step in range(NEVER):
        if sum(w.item() for w in weights) / 2**0.5 >= NEARBY:
            return float(step)
        chosen.zero_grad()
        losses.squared(model(x), x).mean().backward()
        chosen.step()
    return float(NEVER)


def chosen_optimizer(parameters: list[nn.Parameter], rate: float, beta: float) -> Optimizer:
    """`gd`, or `momentum` with that β."""
    if beta == 0:
        return optimizer("gd", parameters, rate)
    return optimizer("momentum", parameters, rate, momentum=beta)


def steps(rate: float, beta: float) -> list[float]:
    """Steps of the optimizer until |y| = 1, from each of the distances."""
    start = torch.tensor(DISTANCES, dtype=torch.float64)
    theta = nn.Parameter(torch.stack([torch.zeros_like(start), start], 1))
    chosen = chosen_optimizer([theta], rate, beta)
    inside = torch.zeros(len(DISTANCES))
    for _ in range(NEVER):
        near = theta.detach()[:, 1] < 1
        if not near.any():
            break
        inside += near
        chosen.zero_grad()
        quadratic(theta).sum().backward()
        chosen.step()
    return inside.tolist()


def ridge() -> bool:
    """Whether momentum stays at y = 0 for 100 steps."""
    theta = nn.Parameter(torch.tensor([[1.0, 0.0]], dtype=torch.float64))
    chosen = optimizer("momentum", [theta], RATES[0])
    for _ in range(100):
        chosen.zero_grad()
        quadratic(theta).sum().backward()
        chosen.step()
    return theta[0, 1].item() == 0
