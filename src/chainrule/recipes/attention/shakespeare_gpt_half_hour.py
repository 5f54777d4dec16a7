"""A larger GPT writes Shakespeare: what less than half an hour on one core can do.

The network of `shakespeare-gpt` with twice its context, half as wide again, with dropout against
learning a text of a million characters by heart.
Radford et al. (2018); Karpathy (2022), nanoGPT. Notes: J 6.4, L "Transformer Impact".
"""

from dataclasses import dataclass
from typing import ClassVar

from chainrule.recipes.attention import shakespeare_gpt
from chainrule.runs.recipe import Published


@dataclass(frozen=True, kw_only=True)
class Recipe(shakespeare_gpt.Recipe):
    """128 characters → 4 blocks of 6 heads, 192 wide → their next ones."""

    published: ClassVar[tuple[Published, ...]] = (
        Published("validation last_tenth", 1.4697, "Karpathy (2022), nanoGPT on a GPU"),
    )

    context: int = 128
    width: int = 192
    depth: int = 4
    heads: int = 6
    dropout: float = 0.1
    batch_size: int = 24
    epochs: int = 10
    learning_rate: float = 3e-3
