"""Claim: Deep Sets ignore the order of a set: f(PX) = f(X) for every P (J 7.1, J 7.2).

    f(x_1, …, x_M) = ρ(Σ_m φ(x_m)) = ρ(Σ_m φ(x_πm))

Measured: the largest change of the outputs over random orders of random sets, for sum, mean and
maximum, in double precision, and when the padding of a set is filled with other values.
Bound: 1e-12; sums in another order round differently.
The picture compares an MLP that reads the elements one after the other: to it each order is a new
set. Zaheer et al. (2017).
"""

from collections.abc import Callable

import torch
from torch import Tensor

from chainrule.lab.claim import Near, Picture, Verdict
from chainrule.models.feedforward.mlp import MLP
from chainrule.models.geometric.deep_sets import DeepSets
from chainrule.nn.set_pooling import POOLS

ROUNDING = 1e-12
Function = Callable[[Tensor, Tensor], Tensor]


def check(sets: int = 60, size: int = 12, seed: int = 0) -> Verdict:
    """Sum, mean and maximum.

    Args:
        sets: Random sets.
        size: Largest number of elements.
    """
    return verdict(deep_sets, sets, size, seed)


def broken() -> Verdict:
    """An MLP that reads the concatenated elements."""
    return verdict(in_a_row, 60, 12, 0)


def near() -> Near:
    """Elements that tell a little of their place."""

    def numbered(pool: str, size: int) -> Function:
        f, places = deep_sets(pool, size), 1e-6 * torch.arange(size)[:, None]
        return lambda x, mask: f(x + places, mask)

    return {"places of size 1e-06": lambda: verdict(numbered, 10, 12, 0)}


@torch.no_grad()
def verdict(make: Callable[[str, int], Function], sets: int, size: int, seed: int) -> Verdict:
    """Outputs before and after."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        functions = {pool: make(pool, size) for pool in POOLS}
        reader = in_a_row("", size)
        x, other = torch.randn(2, sets, size, 3, dtype=torch.float64)
        mask = torch.arange(size) < torch.randint(1, size + 1, (sets, 1))
        order = torch.rand(sets, size).argsort(1)
    shuffled = x.gather(1, order[..., None].expand_as(x)), mask.gather(1, order)
    refilled = torch.where(mask[..., None], x, other), mask
    changes = {
        pool: max((f(*changed) - f(x, mask)).abs().max().item() for changed in (shuffled, refilled))
        for pool, f in functions.items()
    }
    worst = max(changes.values())
    shown = {"MLP, elements in a row": reader, "Deep Sets, mean": functions["mean"]}
    points = {name: (standard(f(x, mask)), standard(f(*shuffled))) for name, f in shown.items()}
    return Verdict(
        quantity="largest |f(PX) - f(X)|",
        measured=worst,
        relation="≤",
        bound=ROUNDING,
        picture=Picture(
            title="A shuffled set gives the same output",
            x_label="f(X), in standard deviations",
            y_label="f(PX), in standard deviations",
            points=points,
            bounds={"f(PX) = f(X)": ([-3.0, 3.0], [-3.0, 3.0])},
        ),
        details=changes,
    )


def deep_sets(pool: str, size: int) -> Function:
    """ρ and φ of one hidden layer each."""
    return DeepSets(MLP(3, [32], 16), MLP(16, [32], 1), pool).double()


def in_a_row(pool: str, size: int) -> Function:
    """An MLP of the elements one after the other, zeros for padding."""
    network = MLP(3 * size, [32], 1).double()
    return lambda x, mask: network((x * mask[..., None]).flatten(1))


def standard(f: Tensor) -> list[float]:
    return ((f - f.mean()) / f.std()).flatten().tolist()
