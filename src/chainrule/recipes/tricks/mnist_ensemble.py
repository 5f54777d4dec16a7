"""MNIST by an ensemble of ten networks.

784-256-128-10 from ten random initializations, trained in one batched program, without dropout and
weight decay and with a large learning rate: regularization makes the members agree, and then their
mean gains little. Notes: L "Tuning and model selection".
"""

from dataclasses import dataclass, replace
from typing import ClassVar

from chainrule.recipes.feedforward import mnist_mlp_ridge
from chainrule.runs.options import RunOptions
from chainrule.runs.recipe import Published
from chainrule.training import Settings


@dataclass(frozen=True, kw_only=True)
class Recipe(mnist_mlp_ridge.Recipe):
    """784-256-128-10, ten times."""

    reference: ClassVar[str] = "L 'Tuning and model selection'"
    published: ClassVar[tuple[Published, ...]] = ()

    options: ClassVar[RunOptions] = RunOptions(members=10)
    settings: Settings = replace(
        mnist_mlp_ridge.Recipe.settings, epochs=15, learning_rate=8e-3, weight_decay=0.0
    )
