"""Cart and pole: push the cart left or right so that the pole on it stays up.

    ψ = (F + m l ω² sin θ) / M                          F = ±10 N,  M = 1.1 kg,  m = 0.1 kg
    α = (g sin θ - ψ cos θ) / (l (4/3 - m cos² θ / M))  half length l = 0.5 m,  g = 9.8 m/s²
    a = ψ - m l α cos θ / M
    (x, v, θ, ω) ← (x, v, θ, ω) + τ (v, a, ω, α)        τ = 0.02 s

Every step brings a reward of 1. An episode terminates when |x| > 2.4 m or |θ| > 12°, and is
truncated after 500 steps. The numbers are gymnasium's CartPole-v1, for many carts at once.

Barto, Sutton and Anderson (1983), IEEE Transactions SMC 13(5). Notes: A 4.
"""

import math

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from chainrule.environments.environment import Transition

GRAVITY, FORCE, TAU = 9.8, 10.0, 0.02
MASS, POLE_MASS, HALF_LENGTH = 1.1, 0.1, 0.5
FARTHEST, STEEPEST, LONGEST = 2.4, 12 * 2 * math.pi / 360, 500
NAMES = ("x", "v", "θ", "ω")
ACTIONS = ("left", "right")


class CartPoles:
    """Carts side by side, in double precision; what they show is rounded to single."""

    def __init__(self, copies: int, generator: torch.Generator):
        self.carts = fresh(copies, generator)
        self.time = torch.zeros(copies, dtype=torch.int64)

    @property
    def observation(self) -> Float[Tensor, "copies 4"]:
        return self.carts.float()

    def step(self, action: Int[Tensor, " copies"], generator: torch.Generator) -> Transition:
        moved, time = move(self.carts, action), self.time + 1
        terminated, late = fallen(moved), time >= LONGEST
        truncated = late & ~terminated
        reward = torch.ones(len(moved))
        over = terminated | late
        self.carts = torch.where(over[:, None], fresh(len(moved), generator), moved)
        self.time = torch.where(over, 0, time)
        return Transition(moved.float(), reward, terminated, truncated)

    def state(self) -> dict[str, Tensor]:
        return {"carts": self.carts, "time": self.time}

    def restore(self, state: dict[str, Tensor]) -> None:
        self.carts, self.time = state["carts"], state["time"]


def move(
    carts: Float[Tensor, "copies 4"], action: Int[Tensor, " copies"]
) -> Float[Tensor, "copies 4"]:
    """(x, v, θ, ω) one step of Euler's method later."""
    _, v, theta, omega = carts.unbind(1)
    sin, cos = theta.sin(), theta.cos()
    force = FORCE * (2 * action - 1)
    psi = (force + POLE_MASS * HALF_LENGTH * omega.square() * sin) / MASS
    alpha = (GRAVITY * sin - cos * psi) / (HALF_LENGTH * (4 / 3 - POLE_MASS * cos.square() / MASS))
    a = psi - POLE_MASS * HALF_LENGTH * alpha * cos / MASS
    return carts + TAU * torch.stack([v, a, omega, alpha], dim=1)


def fallen(carts: Float[Tensor, "copies 4"]) -> Bool[Tensor, " copies"]:
    """|x| > 2.4 or |θ| > 12°."""
    return (carts[:, 0].abs() > FARTHEST) | (carts[:, 2].abs() > STEEPEST)


def fresh(copies: int, generator: torch.Generator) -> Float[Tensor, "copies 4"]:
    """Carts almost at rest: every number uniform between -0.05 and 0.05."""
    return 0.1 * torch.rand(copies, 4, dtype=torch.float64, generator=generator) - 0.05
