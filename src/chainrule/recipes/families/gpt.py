"""What the GPT recipes share: passages of a fixed length, and pictures of who listens to whom."""

from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F
from torch import Tensor

from chainrule.data.splits import Split, Splits
from chainrule.models.attention.gpt import GPT
from chainrule.nn.attention import attention_maps
from chainrule.recipes.families.language_model import BEFORE, READ, Language
from chainrule.runs.recipe import Task
from chainrule.training import Progress
from chainrule.training.random_windows import PassageSettings, fit_passages, passage_loss

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHOWN = 20  # characters of the test text whose attention is drawn
VISIBLE = str.maketrans({" ": "·", "\n": "↵", "\t": "⇥"})


@dataclass(frozen=True, kw_only=True)
class WithContext(PassageSettings, Language[GPT]):
    """The characters of a passage → the next one, at every place of it."""

    width: int = 128
    """Numbers that stand for a character in every layer."""
    depth: int = 4
    """Blocks of attention and a small network."""
    heads: int = 4
    """Heads of each attention."""
    dropout: float = 0.0
    """Share of the embeddings and of every sublayer's outputs dropped in each step."""
    batch_size: int = 12
    """Passages per update."""
    epochs: int = 8
    last_rate: float = 0.0
    optimizer: str = "adamw"
    schedule: str = "warm-up-cosine"
    weight_decay: float = 0.1
    clip: float = 1.0

    def model(self, task: Task) -> GPT:
        (symbols,) = task.shape
        return GPT(symbols, self.context, self.width, self.depth, self.heads, self.dropout)

    def learn(
        self, model: GPT, data: Splits, folder: Path | None, device: str
    ) -> Generator[Progress]:
        return fit_passages(model, tuple(data.train), tuple(data.validation), self, folder, device)

    def loss(self, model: GPT, text: Split) -> float:
        return passage_loss(model, tuple(text), self.context)

    def nats(self, model: GPT, x: Tensor, y: Tensor) -> Tensor:
        """Each after a whole context."""
        passages = x.unfold(0, min(self.context, BEFORE, len(x)), 1)[-READ:]
        logits = torch.cat([model(part)[:, -1] for part in passages.split(64)])
        return F.cross_entropy(logits, y[-len(passages) :], reduction="none")

    def pictures(self, model: GPT, data: Splits) -> "dict[str, Figure]":
        from chainrule.plots.attention import positional_encoding, text_attention

        text = [data.classes[number] for number in data.test.x[: BEFORE + READ].tolist()]
        size = min(SHOWN, self.context, len(text))
        line = "".join(text[:-size]).find("\n") + 1  # begin with a whole line, if there is one
        x = data.test.x[line : line + size]
        maps = torch.cat(list(attention_maps(model, x[None]).values()))
        shown = [character.translate(VISIBLE) for character in text[line : line + size]]
        learned = model.positions.weight.numpy(force=True)
        return super().pictures(model, data) | {
            "attention": text_attention(maps.numpy(), shown),
            "positions": positional_encoding(learned, "learned positions"),
        }
