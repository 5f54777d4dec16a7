"""German to English with attention: the decoder looks back at every word.

The same widths and number of epochs as the plain encoder-decoder, `multi30k-gru`. The run folder
holds the alignment of some test sentences and BLEU by their length.
Bahdanau, Cho and Bengio (2015). Notes: J 5.3.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import torch
from torch import nn

from chainrule.data.multi30k import Captions
from chainrule.data.text import BEGIN
from chainrule.models.recurrent.bahdanau import Bahdanau
from chainrule.recipes.base import Published, Task
from chainrule.recipes.translating import Translating, lengths, pair_encoder

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ALIGNED = 4  # test sentences whose alignment is drawn


@dataclass(frozen=True, kw_only=True)
class Recipe(Translating):
    """Words → a GRU both ways → attention → a GRU → words."""

    published: ClassVar[tuple[Published, ...]] = (
        Published("test bleu", 28.3, "a tutorial with 512 units"),
    )

    def model(self, task: Task) -> nn.Module:
        source, target = task.shape
        return Bahdanau(source, target, self.embedding, self.width, self.dropout)

    def pictures(self, model: nn.Module, data: Captions) -> "dict[str, Figure]":
        from chainrule.report.translation import alignments

        assert isinstance(model, Bahdanau)
        encoder = pair_encoder(data)
        found = self.translations(model, data, "test")
        drawn = []
        for row in range(min(ALIGNED, len(found))):
            source = data.test.x[row : row + 1, : int(lengths(data.test.x)[row])]
            written = encoder.target.encode(found[row])
            previous = torch.tensor([[BEGIN, *written]])
            with torch.no_grad():
                a = model.eval().alignment(source, previous)[0, : len(written)]
            german = [encoder.source.tokens[token] for token in source[0].tolist()]
            drawn.append((german, [encoder.target.tokens[t] for t in written], a.numpy()))
        return super().pictures(model, data) | {"alignment": alignments(drawn)}
