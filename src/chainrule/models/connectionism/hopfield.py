"""Hopfield network: memories are the minima of an energy.

    H(x) = -1/2 xᵀ W x + bᵀ x,     x ∈ {-1, +1}ⁿ,  W = Wᵀ,  diag W = 0
    W    = 1/n Σ_p x_p x_pᵀ        (Hebb's rule, then the diagonal is zeroed)
    x_i ← sgn((W x)_i - b_i)       one unit at a time; a field of zero keeps x_i

The notes set sgn(0) = +1, with which a unit may flip without lowering the energy. Here it keeps its
old value, so every flip lowers the energy and recall always ends. If all units are updated at once,
it may end in a cycle of two states.

Hopfield (1982), PNAS 79(8). Notes: J 1.4.
"""

from collections.abc import Callable

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from chainrule.arguments import Count, checked
from chainrule.errors import InputError


@checked
class Hopfield(nn.Module):
    """An associative memory of n units with values -1 and +1.

        H(x) = -1/2 xᵀ W x + bᵀ x,     x_i ← sgn((W x)_i - b_i)

    Args:
        units: n.

    Example:
        >>> import torch
        >>> memory = Hopfield(4)
        >>> memory.store(torch.tensor([[1.0, 1.0, -1.0, -1.0]]))
        >>> memory.recall(torch.tensor([[1.0, -1.0, -1.0, -1.0]])).tolist()
        [[1.0, 1.0, -1.0, -1.0]]
    """

    W: Float[Tensor, "n n"]
    b: Float[Tensor, " n"]

    def __init__(self, units: Count):
        super().__init__()
        self.register_buffer("W", torch.zeros(units, units))
        self.register_buffer("b", torch.zeros(units))

    def store(self, patterns: Float[Tensor, "patterns n"]) -> None:
        """W ← 1/n Σ_p x_p x_pᵀ with a zero diagonal."""
        self.W.copy_(hebb(bipolar(patterns)))

    def forward(self, x: Float[Tensor, "batch n"]) -> Float[Tensor, "batch n"]:
        """One sweep of recall: every unit once, in order."""
        return sweep(self.W, self.b, x, torch.arange(len(self.b)))

    def recall(
        self,
        x: Float[Tensor, "batch n"],
        sweeps: int = 100,
        generator: torch.Generator | None = None,
    ) -> Float[Tensor, "batch n"]:
        """Sweep until nothing changes: in order or, with a generator, in a random order each."""
        order = sweep_orders(len(self.b), generator)
        return until_stable(lambda x: sweep(self.W, self.b, x, order()), bipolar(x), sweeps)

    def recall_synchronous(
        self, x: Float[Tensor, "batch n"], steps: int = 100
    ) -> Float[Tensor, "batch n"]:
        """Update all units at once until nothing changes, at most `steps` times."""
        return until_stable(lambda x: synchronous(self.W, self.b, x), bipolar(x), steps)


def energy(
    W: Float[Tensor, "n n"], b: Float[Tensor, " n"], x: Float[Tensor, "batch n"]
) -> Float[Tensor, " batch"]:
    """H(x) = -1/2 xᵀ W x + bᵀ x, one value per state."""
    return -0.5 * ((x @ W) * x).sum(-1) + x @ b


def hebb(patterns: Float[Tensor, "patterns n"]) -> Float[Tensor, "n n"]:
    """1/n Σ_p x_p x_pᵀ with a zero diagonal."""
    return (patterns.T @ patterns / patterns.shape[1]).fill_diagonal_(0)


def sweep(
    W: Float[Tensor, "n n"],
    b: Float[Tensor, " n"],
    x: Float[Tensor, "batch n"],
    order: Int[Tensor, " updates"],
) -> Float[Tensor, "batch n"]:
    """x_i ← sgn((W x)_i - b_i) for one i of the order after the other."""
    x = x.clone()
    for i in order.tolist():
        x[:, i] = sign(x @ W[i] - b[i], x[:, i])
    return x


def synchronous(
    W: Float[Tensor, "n n"], b: Float[Tensor, " n"], x: Float[Tensor, "batch n"]
) -> Float[Tensor, "batch n"]:
    """x ← sgn(W x - b), all units at once."""
    return sign(x @ W - b, x)


def recall_stored(
    patterns: Float[Tensor, "patterns n"], x: Float[Tensor, "batch n"], steps: int = 100
) -> Float[Tensor, "batch n"]:
    """`Hopfield.recall_synchronous` of the stored patterns, without forming W.

    W x = 1/n (Σ_p x_p (x_pᵀ x) - s x) takes 2 s n operations instead of n².
    """

    def update(x: Tensor) -> Tensor:
        return sign((x @ patterns.T) @ patterns - len(patterns) * x, x)

    return until_stable(update, bipolar(x), steps)


def stable(
    W: Float[Tensor, "n n"], b: Float[Tensor, " n"], x: Float[Tensor, "batch n"]
) -> Bool[Tensor, " batch"]:
    """Whether an update would flip no unit of a state."""
    return (synchronous(W, b, x) == x).all(-1)


def sign(field: Float[Tensor, "*shape"], old: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    """sgn(field), and the old value where the field is zero."""
    return torch.where(field == 0, old, field.sign().to(old.dtype))


def sweep_orders(units: int, generator: torch.Generator | None) -> Callable[[], Int[Tensor, " n"]]:
    """The order of each sweep: always 0 … n-1, or a fresh permutation."""
    if generator is None:
        return lambda: torch.arange(units)
    return lambda: torch.randperm(units, generator=generator)


def until_stable(
    step: Callable[[Tensor], Tensor], x: Float[Tensor, "batch n"], limit: int
) -> Float[Tensor, "batch n"]:
    """x ← step(x) until it no longer changes, at most `limit` times."""
    for _ in range(limit):
        before, x = x, step(x)
        if torch.equal(before, x):
            break
    return x


def bipolar(x: Float[Tensor, "batch n"]) -> Float[Tensor, "batch n"]:
    """x, whose values must be -1 and +1."""
    if not x.abs().eq(1).all():
        raise InputError("states must hold -1 and +1 only; map 0/1 values by 2 x - 1")
    return x


def example() -> tuple[Hopfield, Tensor]:
    """A memory of two random patterns, and five random states."""
    model = Hopfield(16)
    model.store(torch.randn(2, 16).sign())
    return model, torch.randn(5, 16).sign()
