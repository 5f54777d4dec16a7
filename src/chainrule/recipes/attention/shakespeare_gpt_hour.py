"""A character-level GPT on Shakespeare that takes an hour of two cores.

Between `shakespeare-gpt-half-hour` and nanoGPT's network for a GPU, which has 6 blocks, 384 wide,
and reads 82 million characters; this one reads 33 million. bfloat16 products where the processor
has them; the weights that are kept are a moving average.
Radford et al. (2018); Karpathy (2022), nanoGPT. Notes: J 6.4, L "Transformer Impact".
"""

from dataclasses import dataclass, replace
from typing import ClassVar

from chainrule.recipes.attention import shakespeare_gpt_half_hour
from chainrule.training import Settings


@dataclass(frozen=True, kw_only=True)
class Recipe(shakespeare_gpt_half_hour.Recipe):
    """256 characters → 6 blocks of 4 heads, 256 wide → their next ones."""

    reference: ClassVar[str] = "J 6.4, L 'Transformer Impact'"

    context_length: int = 256
    hidden_size: int = 256
    num_layers: int = 6
    num_heads: int = 4
    dropout: float = 0.2
    settings: Settings = replace(
        shakespeare_gpt_half_hour.Recipe.settings,
        batch_size=32,
        epochs=16,
        learning_rate=2e-3,
        precision="auto",
        ema_decay=0.99,
    )
