"""A character-level GPT on your own text.

    chainrule train gpt --text my.txt
    chainrule generate runs/gpt-1 --prompt "Once upon" --temperature 0.8 --top-p 0.9

A twentieth of the text is held out for early stopping, so that a short text is not memorized.
Radford et al. (2018). Notes: J 6.4, L "Transformer Impact".
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from chainrule.data.readers.text_file import text_file
from chainrule.data.splits import Splits
from chainrule.recipes.families.gpt import GPTRecipe
from chainrule.training import Settings


@dataclass(frozen=True, kw_only=True)
class Recipe(GPTRecipe):
    """128 characters of a text → 4 blocks of 4 heads, 128 wide → their next ones."""

    reference: ClassVar[str] = "J 6.4, L 'Transformer Impact'"
    data_fields: ClassVar[tuple[str, ...]] = ("text", "context_length")

    text: str
    """Text file in UTF-8."""
    context_length: int = 128
    dropout: float = 0.1
    settings: Settings = replace(
        GPTRecipe.settings, batch_size=16, epochs=12, learning_rate=3e-3, patience=4
    )

    def __post_init__(self) -> None:
        # The run must be able to find its text from any folder.
        object.__setattr__(self, "text", str(Path(self.text).resolve()))

    def data(self, folder: Path | None) -> Splits:
        return text_file(self.text, self.context_length)
