"""German to English with attention: the decoder looks back at every word.

The same widths and number of epochs as the plain encoder-decoder, `multi30k-gru`. The run folder
holds the alignment of some test sentences and BLEU by their length.
Bahdanau, Cho and Bengio (2015). Notes: J 5.3.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import torch
from torch import nn

from chainrule.data.datasets.multi30k import Captions
from chainrule.models.recurrent.bahdanau import Bahdanau
from chainrule.recipes.families.translation import Recurring, aligned
from chainrule.runs.recipe import Published, Task

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, kw_only=True)
class Recipe(Recurring):
    """Words → a GRU both ways → attention → a GRU → words."""

    published: ClassVar[tuple[Published, ...]] = (
        Published("test bleu", 28.3, "a tutorial with 512 units"),
    )

    def model(self, task: Task) -> nn.Module:
        source, target = task.shape
        return Bahdanau(source, target, self.embedding, self.width, self.dropout)

    def pictures(self, model: nn.Module, data: Captions) -> "dict[str, Figure]":
        from chainrule.plots.translation import alignments

        assert isinstance(model, Bahdanau)
        found = self.translations(model, data, "test")
        with torch.no_grad():
            drawn = aligned(data, found, lambda *pair: model.eval().alignment(*pair)[0])
        usual = super().pictures(model, data)
        return usual | {"alignment": alignments(drawn)} if drawn else usual
