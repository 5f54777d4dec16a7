"""Shared by BERT's pre-training and fine-tuning: sizes, trimmed padding, attention figures."""

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
from chainrule.shares import longest

if TYPE_CHECKING:
    from matplotlib.figure import Figure

AT_ONCE = 128  # texts measured together


@dataclass(frozen=True, kw_only=True)
class BertSizes:
    """Sizes of a small BERT; fine-tuning needs a pre-trained network of the same sizes."""

    max_length: int = 128
    """Longest input, in tokens."""
    hidden_size: int = 192
    """Size of a token's hidden vector."""
    num_layers: int = 3
    """Number of transformer blocks."""
    num_heads: int = 6
    """Attention heads of each block."""

    def check_sizes(self) -> None:
        if self.max_length < 8:
            raise InputError(f"`max_length` must be at least 8, got {self.max_length}")
        sizes = self.hidden_size, self.num_layers, self.num_heads
        if min(sizes) < 1 or self.hidden_size % self.num_heads:
            raise InputError(
                "expected `num_layers` and `num_heads` of 1 or more, and a `hidden_size` that "
                f"num_heads divides, got {self.num_layers}, {self.num_heads} and {self.hidden_size}"
            )

    def bert(self, vocab_size: int, dropout: float) -> BERT:
        sizes = self.max_length, self.hidden_size, self.num_layers, self.num_heads
        return BERT(vocab_size, *sizes, dropout)


class TrimmedPadding(nn.Module):
    """A model that drops columns of a batch that are only padding; the outputs are the same.

    In evaluation, texts of similar length are batched together. Where a model has an output for
    every token, the output at padding is `fill`.
    """

    def __init__(self, model: nn.Module, fill: float = 0.0):
        super().__init__()
        self.model, self.fill = model, fill

    def forward(self, tokens: Int[Tensor, "batch steps"]) -> Float[Tensor, "batch *outputs"]:
        if self.training or torch.compiler.is_compiling() or len(tokens) <= AT_ONCE:
            return self.read(tokens)
        order = lengths(tokens).argsort(stable=True)
        parts = [self.read(tokens[rows]) for rows in order.split(AT_ONCE)]
        return torch.cat(parts)[order.argsort()]

    def read(self, tokens: Tensor) -> Tensor:
        found = self.model(trimmed(tokens))
        if found.ndim < 3:
            return found
        padding = tokens[:, : found.shape[1], None] == PADDING
        found = found.masked_fill(padding, self.fill)
        return F.pad(found, (0, 0, 0, tokens.shape[1] - found.shape[1]), value=self.fill)


def lengths(tokens: Int[Tensor, "n length"]) -> Int[Tensor, " n"]:
    return (tokens != PADDING).sum(1)


def trimmed(tokens: Int[Tensor, "n length"]) -> Int[Tensor, "n shorter"]:
    """Without the columns that are padding in every row; an exported program keeps them."""
    if torch.compiler.is_compiling():
        return tokens
    return tokens[:, : longest(int(lengths(tokens).max()))]


def segments(tokens: Int[Tensor, "n length"], sep: int) -> Int[Tensor, "n length"]:
    """1 after the first [SEP] of a pair, 0 before it and in padding."""
    ends = tokens == sep
    second = (ends.cumsum(1) - ends.long()).clamp(max=1)
    return second.masked_fill(tokens == PADDING, 0)


def attention_figure(bert: BERT, pieces: WordPiece, texts: Sequence[str]) -> "Figure":
    """Every layer and head on one text, or on a pair of them."""
    from chainrule.plots.attention import text_attention

    numbers = [pieces.cls, *(n for text in texts for n in [*pieces.encode(text), pieces.sep])]
    tokens = torch.tensor([numbers[: bert.max_length]])
    maps = attention_maps(bert, tokens, segments(tokens, pieces.sep))
    names = [pieces.tokens[number] for number in tokens[0].tolist()]
    return text_attention(torch.stack([A[0] for A in maps.values()]).numpy(), names)


def wordpiece_of(data: Splits) -> WordPiece:
    """The vocabulary of the splits."""
    assert isinstance(data.encoder, WordPiece)
    return data.encoder
