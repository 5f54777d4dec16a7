"""Cart-pole: push a cart left or right so that the pole on it stays upright.

    ψ = (F + m l ω² sin θ) / M                          F = ±10 N,  M = 1.1 kg,  m = 0.1 kg
    α = (g sin θ - ψ cos θ) / (l (4/3 - m cos² θ / M))  half length l = 0.5 m,  g = 9.8 m/s²
    a = ψ - m l α cos θ / M
    (x, v, θ, ω) ← (x, v, θ, ω) + τ (v, a, ω, α)        τ = 0.02 s

Every step earns a reward of 1. An episode terminates when |x| > 2.4 m or |θ| > 12° and is truncated
after 500 steps. The constants are those of gymnasium's CartPole-v1; many carts step in parallel.

Barto, Sutton and Anderson (1983), IEEE Transactions SMC 13(5). Notes: A 4.
"""

import math

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from chainrule.arguments import Count, checked
from chainrule.environments.environment import Transition

GRAVITY, FORCE, TAU = 9.8, 10.0, 0.02
MASS, POLE_MASS, HALF_LENGTH = 1.1, 0.1, 0.5
MAX_POSITION, MAX_ANGLE, MAX_STEPS = 2.4, 12 * 2 * math.pi / 360, 500
NAMES = ("x", "v", "θ", "ω")
ACTIONS = ("left", "right")


@checked
class CartPoles:
    """Cart-poles that step in parallel, the environment CartPole-v1.

        ψ = (F + m l ω² sin θ) / M
        α = (g sin θ - ψ cos θ) / (l (4/3 - m cos² θ / M)),   a = ψ - m l α cos θ / M
        (x, v, θ, ω) ← (x, v, θ, ω) + τ (v, a, ω, α)

    Action 0 pushes left, 1 right. States are in double precision, observations in single.

    Args:
        num_envs: Number of carts.
        generator: Source of the initial states.

    >>> import torch
    >>> from chainrule.environments import CartPoles
    >>> generator = torch.Generator().manual_seed(0)
    >>> carts = CartPoles(2, generator)
    >>> carts.step(torch.tensor([0, 1]), generator).reward
    tensor([1., 1.])
    """

    def __init__(self, num_envs: Count, generator: torch.Generator):
        self.carts = initial_carts(num_envs, generator)
        self.time = torch.zeros(num_envs, dtype=torch.int64)

    @property
    def observation(self) -> Float[Tensor, "envs 4"]:
        return self.carts.float()

    def step(self, action: Int[Tensor, " envs"], generator: torch.Generator) -> Transition:
        moved, time = move(self.carts, action), self.time + 1
        terminated, late = out_of_bounds(moved), time >= MAX_STEPS
        truncated = late & ~terminated
        reward = torch.ones(len(moved))
        over = terminated | late
        self.carts = torch.where(over[:, None], initial_carts(len(moved), generator), moved)
        self.time = torch.where(over, 0, time)
        return Transition(moved.float(), reward, terminated, truncated)

    def state(self) -> dict[str, Tensor]:
        return {"carts": self.carts, "time": self.time}

    def restore(self, state: dict[str, Tensor]) -> None:
        self.carts, self.time = state["carts"], state["time"]


def move(carts: Float[Tensor, "envs 4"], action: Int[Tensor, " envs"]) -> Float[Tensor, "envs 4"]:
    """(x, v, θ, ω) after one step of Euler's method."""
    _, v, theta, omega = carts.unbind(1)
    sin, cos = theta.sin(), theta.cos()
    force = FORCE * (2 * action - 1)
    psi = (force + POLE_MASS * HALF_LENGTH * omega.square() * sin) / MASS
    alpha = (GRAVITY * sin - cos * psi) / (HALF_LENGTH * (4 / 3 - POLE_MASS * cos.square() / MASS))
    a = psi - POLE_MASS * HALF_LENGTH * alpha * cos / MASS
    return carts + TAU * torch.stack([v, a, omega, alpha], dim=1)


def out_of_bounds(carts: Float[Tensor, "envs 4"]) -> Bool[Tensor, " envs"]:
    """|x| > 2.4 or |θ| > 12°."""
    return (carts[:, 0].abs() > MAX_POSITION) | (carts[:, 2].abs() > MAX_ANGLE)


def initial_carts(num_envs: int, generator: torch.Generator) -> Float[Tensor, "envs 4"]:
    """Carts almost at rest: all variables uniform between -0.05 and 0.05."""
    return 0.1 * torch.rand(num_envs, 4, dtype=torch.float64, generator=generator) - 0.05
