"""Pocket algorithm: a perceptron that keeps its best weights.

    draw a random mistake (x, y), y (wᵀ x + b) ≤ 0:    w ← w + y x,   b ← b + y
    pocket ← (w, b) whenever it classifies more examples than the pocket did

On separable data it ends in the version space like the perceptron; on other data the perceptron's
weights wander while the pocket's only improve. Gallant draws any example and skips those that are
classified correctly; drawing among the mistakes is the same walk. Counting the mistakes over all
examples before the pocket changes is his "ratchet".

Gallant (1990), IEEE Transactions on Neural Networks 1(2). Notes: J 1.2 (data with an empty V).
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from chainrule.arguments import checked
from chainrule.errors import InputError
from chainrule.models.connectionism.perceptron import Perceptron


@checked
class Pocket(Perceptron):
    """A perceptron for data that may not be separable: it keeps the best weights of its walk.

        w ← w + y x,   b ← b + y        for a random mistake, y (wᵀ x + b) ≤ 0
        pocket ← (w, b)                 whenever it classifies more examples than the pocket did

    Args:
        inputs: Size of x.
        bias: Whether there is a b; without it the hyperplane passes through the origin.

    Example:
        >>> import torch
        >>> x = torch.tensor([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
        >>> xor = torch.tensor([-1.0, -1.0, 1.0, 1.0])
        >>> Pocket(2).fit(x, xor).errors
        1
    """

    def fit(  # type: ignore[override]  # its own limit and its own result
        self,
        x: Float[Tensor, "batch n"],
        y: Float[Tensor, " batch"],
        updates: int = 1000,
        seed: int = 0,
    ) -> "PocketResult":
        """Run the pocket algorithm and keep its best weights."""
        result = pocket_algorithm(x, y, updates, seed, bias=self.bias)
        self.w.copy_(result.w)
        self.b.copy_(result.b)
        return result


@dataclass(frozen=True)
class PocketResult:
    """The best weights, the number of examples they get wrong, and the updates that were made."""

    w: Float[Tensor, " n"]
    b: Float[Tensor, ""]
    errors: int
    updates: int
    reason: str


def pocket_algorithm(
    x: Float[Tensor, "batch n"],
    y: Float[Tensor, " batch"],
    updates: int = 1000,
    seed: int = 0,
    bias: bool = True,
) -> PocketResult:
    """The best weights of at most `updates` updates on mistakes drawn with the seed."""
    if not y.abs().eq(1).all():
        raise InputError("labels must be -1 and +1; map 0/1 labels by 2 y - 1")
    generator = torch.Generator().manual_seed(seed)
    x, y = x.double(), y.double()
    w, b = torch.zeros_like(x[0]), x.new_zeros(())
    best_w, best_b, errors = w, b, len(x) + 1
    for update in range(updates + 1):
        wrong = (y * (x @ w + b) <= 0).nonzero()[:, 0]
        if len(wrong) < errors:
            best_w, best_b, errors = w, b, len(wrong)
        if errors == 0:
            return PocketResult(best_w, best_b, 0, update, "no example is misclassified")
        i = wrong[torch.randint(len(wrong), (), generator=generator)]
        w, b = w + y[i] * x[i], b + y[i] * bias
    return PocketResult(best_w, best_b, errors, updates, f"reached the limit of {updates} updates")


def example() -> tuple[Pocket, Tensor]:
    """A pocket perceptron for two clouds that overlap, and their points."""
    x = torch.randn(20, 2)
    y = torch.where(torch.arange(20) < 10, 1.0, -1.0)
    model, x = Pocket(2), x + 0.5 * y[:, None]
    model.fit(x, y, updates=100)
    return model, x
