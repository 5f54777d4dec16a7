"""German to English by two GRUs: all that is read must pass through one vector.

The plain encoder-decoder, to be compared with attention at the same widths and number of epochs.
Sutskever, Vinyals and Le (2014); Cho et al. (2014). Notes: J 5.3.
"""

from dataclasses import dataclass
from typing import ClassVar

from torch import nn

from chainrule.models.recurrent.seq2seq import Seq2Seq
from chainrule.recipes.families.translation import Recurring
from chainrule.runs.recipe import Published, Task


@dataclass(frozen=True, kw_only=True)
class Recipe(Recurring):
    """Words → a GRU → its last state → a GRU → words."""

    published: ClassVar[tuple[Published, ...]] = (
        Published("test bleu", 20.6, "a tutorial with 512 units"),
    )

    cell: str = "gru"
    """The recurrent cell of encoder and decoder: gru, lstm, elman, mingru, lru, …"""

    def model(self, task: Task) -> nn.Module:
        source, target = task.shape
        return Seq2Seq(source, target, self.cell, self.embedding, self.width, dropout=self.dropout)
