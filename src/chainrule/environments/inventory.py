"""Inventory control: how much to order before the random demand of the next day is known.

    y = min(s + a, capacity),   s' = max(y - D, 0),   D ~ Poisson(λ)
    r = price (y - s') - unit cost (y - s) - fixed cost [y > s] - holding cost s'

Demand beyond the stock is lost. Because every order has a fixed cost, small orders do not pay: the
optimal policy waits until the stock is low and then refills it to a level, Scarf's (s, S) policy.

Scarf (1960), in Mathematical Methods in the Social Sciences. Notes: A 4.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from chainrule.arguments import Count, Finite, checked
from chainrule.errors import InputError
from chainrule.models.reinforcement.mdp import MDP


@checked
class Inventory(MDP):
    """A decision process whose state is the stock and whose action is the order.

        y = min(s + a, capacity),   s' = max(y - D, 0),   D ~ Poisson(λ)
        r = price (y - s') - unit_cost (y - s) - fixed_cost [y > s] - holding_cost s'

    Args:
        capacity: Largest stock.
        mean_demand: λ, the mean demand of a day.
        price: Earned per item sold.
        unit_cost: Paid per item ordered.
        fixed_cost: Paid per order.
        holding_cost: Paid per item left at the end of a day.
        discount: γ, at least 0 and below 1.

    >>> from chainrule.environments import Inventory
    >>> shelf = Inventory(capacity=6, mean_demand=2.0)
    >>> shelf.num_states, shelf.num_actions
    (7, 7)
    """

    def __init__(
        self,
        capacity: Count = 20,
        mean_demand: Finite = 5.0,
        price: Finite = 4.0,
        unit_cost: Finite = 2.0,
        fixed_cost: Finite = 8.0,
        holding_cost: Finite = 0.1,
        discount: Finite = 0.95,
    ):
        if capacity < 1 or mean_demand <= 0:
            raise InputError(
                "capacity must be at least 1 and mean_demand above 0, got "
                f"{capacity} and {mean_demand}"
            )
        stock = torch.arange(capacity + 1)
        y = (stock[None] + stock[:, None]).clamp_max(capacity)  # [a, s]
        bought, left = y - stock[None], stock.double()
        R = price * (y[..., None] - left) - holding_cost * left
        R -= (unit_cost * bought + fixed_cost * (bought > 0))[..., None]
        names = tuple(str(order) for order in stock.tolist())
        super().__init__(leftover_probabilities(capacity, mean_demand)[y], R, discount, names)


def leftover_probabilities(capacity: int, mean_demand: float) -> Float[Tensor, "stock left"]:
    """P(s' | y): the distribution of max(y - D, 0) for Poisson D."""
    k = torch.arange(capacity + 1).double()
    p = (k * torch.tensor(mean_demand).double().log() - mean_demand - torch.lgamma(k + 1)).exp()
    P = torch.zeros(capacity + 1, capacity + 1, dtype=torch.float64)
    for y in range(capacity + 1):
        P[y, 1 : y + 1] = p[:y].flip(0)
        P[y, 0] = 1 - P[y].sum()
    return P


def example() -> tuple[Inventory, Tensor]:
    """A capacity of six, and three value functions."""
    return Inventory(6, 2.0), torch.randn(3, 7).double()
