"""MNIST by ten networks at once, whose mean opinion errs less than each of them.

784-256-128-10 from ten random starts, trained in one batched program. No dropout, no decay and a
large rate: what regularizes a member also makes it agree with the others, and then the mean gains
little. Notes: L "Tuning and model selection".
"""

from dataclasses import dataclass
from typing import ClassVar

from chainrule.recipes.feedforward import mnist_mlp_ridge
from chainrule.runs.recipe import Published


@dataclass(frozen=True, kw_only=True)
class Recipe(mnist_mlp_ridge.Recipe):
    """784-256-128-10, ten times."""

    notes: ClassVar[str] = "L 'Tuning and model selection'"
    published: ClassVar[tuple[Published, ...]] = ()

    members: int = 10
    epochs: int = 15
    learning_rate: float = 8e-3
    weight_decay: float = 0.0
