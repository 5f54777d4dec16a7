"""Inventory: how much to order in the evening for a demand that nobody knows yet.

    y = min(s + a, capacity),   s' = max(y - D, 0),   D ~ Poisson(λ)
    r = price (y - s') - unit cost (y - s) - fixed cost [y > s] - holding s'

Customers who find the shelf empty leave. Because every order costs something, small ones are not
worth it: the best policy waits until the stock is low and then fills up to a level, Scarf's (s, S).

Scarf (1960), in Mathematical Methods in the Social Sciences. Notes: A 4.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from chainrule.errors import InputError
from chainrule.models.reinforcement.mdp import MDP


class Inventory(MDP):
    """A Markov decision process: the state is the stock, the action the order."""

    def __init__(
        self,
        capacity: int = 20,
        demand: float = 5.0,
        price: float = 4.0,
        unit_cost: float = 2.0,
        fixed_cost: float = 8.0,
        holding: float = 0.1,
        discount: float = 0.95,
    ):
        if capacity < 1 or demand <= 0:
            raise InputError(f"expected room and demand, got {capacity} and {demand}")
        stock = torch.arange(capacity + 1)
        y = (stock[None] + stock[:, None]).clamp_max(capacity)  # [a, s]
        bought, left = y - stock[None], stock.double()
        R = price * (y[..., None] - left) - holding * left
        R -= (unit_cost * bought + fixed_cost * (bought > 0))[..., None]
        names = tuple(str(order) for order in stock.tolist())
        super().__init__(sold(capacity, demand)[y], R, discount, names)


def sold(capacity: int, demand: float) -> Float[Tensor, "filled left"]:
    """P(s' | y): what is left of y after Poisson customers."""
    k = torch.arange(capacity + 1).double()
    p = (k * torch.tensor(demand).double().log() - demand - torch.lgamma(k + 1)).exp()
    P = torch.zeros(capacity + 1, capacity + 1, dtype=torch.float64)
    for y in range(capacity + 1):
        P[y, 1 : y + 1] = p[:y].flip(0)
        P[y, 0] = 1 - P[y].sum()
    return P


def example() -> tuple[Inventory, Tensor]:
    """A shelf for six, and three value functions."""
    return Inventory(6, 2.0), torch.randn(3, 7).double()
