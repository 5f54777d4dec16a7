"""MNIST by ten networks at once, whose mean opinion errs less than each of them.

The networks of `mnist-mlp-dropout` from ten random starts, trained in one batched program.
Notes: L "Tuning and model selection".
"""

from dataclasses import dataclass
from typing import ClassVar

from chainrule.recipes import mnist_mlp_dropout
from chainrule.recipes.base import Published


@dataclass(frozen=True, kw_only=True)
class Recipe(mnist_mlp_dropout.Recipe):
    """784-256-128-10 with dropout, ten times."""

    notes: ClassVar[str] = "L 'Tuning and model selection'"
    published: ClassVar[tuple[Published, ...]] = ()

    members: int = 10
