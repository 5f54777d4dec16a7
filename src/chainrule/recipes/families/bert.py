"""What pre-training and fine-tuning of BERT share: the sizes, texts by length, where it looks."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from chainrule.data.splits import Splits
from chainrule.data.text.wordpiece import WordPiece
from chainrule.errors import InputError
from chainrule.models.attention.bert import BERT, PADDING
from chainrule.nn.attention import attention_maps

if TYPE_CHECKING:
    from matplotlib.figure import Figure

AT_ONCE = 128  # texts measured together


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """Those of a small BERT; fine-tuning takes the weights of one of the same sizes."""

    length: int = 128
    """Tokens of a text that are read at once."""
    width: int = 192
    """Numbers that stand for a token in its context."""
    depth: int = 3
    """Blocks of attention and feed-forward network."""
    heads: int = 6
    """Heads of attention in each block."""

    def check_sizes(self) -> None:
        if self.length < 8:
            raise InputError(f"--length must be at least 8, got {self.length}")
        if min(self.width, self.depth, self.heads) < 1 or self.width % self.heads:
            raise InputError(
                "expected a depth and heads of 1 or more, and a --width that the heads share "
                f"evenly, got depth {self.depth}, {self.heads} heads and width {self.width}"
            )

    def bert(self, symbols: int, dropout: float) -> BERT:
        return BERT(symbols, self.length, self.width, self.depth, self.heads, dropout)


class ByLength(nn.Module):
    """A model without the padding that no text of a batch needs; the answers are the same.

    Measuring, texts of like length go together, few at a time. A model that answers for every token
    answers `nothing` for padding.
    """

    def __init__(self, model: nn.Module, nothing: float = 0.0):
        super().__init__()
        self.model, self.nothing = model, nothing

    def forward(self, tokens: Int[Tensor, "batch steps"]) -> Float[Tensor, "batch *outputs"]:
        if self.training or len(tokens) <= AT_ONCE:
            return self.read(tokens)
        order = lengths(tokens).argsort(stable=True)
        parts = [self.read(tokens[rows]) for rows in order.split(AT_ONCE)]
        return torch.cat(parts)[order.argsort()]

    def read(self, tokens: Tensor) -> Tensor:
        found = self.model(shortened(tokens))
        if found.ndim < 3:
            return found
        return F.pad(found, (0, 0, 0, tokens.shape[1] - found.shape[1]), value=self.nothing)


def lengths(tokens: Int[Tensor, "n length"]) -> Int[Tensor, " n"]:
    return (tokens != PADDING).sum(1)


def shortened(tokens: Int[Tensor, "n length"]) -> Int[Tensor, "n shorter"]:
    """Without the columns that are padding in every row."""
    return tokens[:, : int(lengths(tokens).max())]


def segments(tokens: Int[Tensor, "n length"], sep: int) -> Int[Tensor, "n length"]:
    """1 behind the first [SEP] of a pair, 0 before it and in padding."""
    ends = tokens == sep
    second = (ends.cumsum(1) - ends.long()).clamp(max=1)
    return second.masked_fill(tokens == PADDING, 0)


def attention_picture(bert: BERT, pieces: WordPiece, texts: Sequence[str]) -> "Figure":
    """Every layer and head on one text, or on a pair of them."""
    from chainrule.plots.attention import text_attention

    numbers = [pieces.cls, *(n for text in texts for n in [*pieces.encode(text), pieces.sep])]
    tokens = torch.tensor([numbers[: bert.max_length]])
    maps = attention_maps(bert, tokens, segments(tokens, pieces.sep))
    names = [pieces.tokens[number] for number in tokens[0].tolist()]
    return text_attention(torch.stack([A[0] for A in maps.values()]).numpy(), names)


def pieces_of(data: Splits) -> WordPiece:
    """The vocabulary of the splits."""
    assert isinstance(data.encoder, WordPiece)
    return data.encoder
