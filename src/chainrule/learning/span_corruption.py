"""Span corruption: T5's pre-training task, to write what was cut out of a text.

    text      Thank you for inviting me to your party last week
    input     Thank you ⟨1⟩ me to your party ⟨2⟩ week END
    target    ⟨1⟩ for inviting ⟨2⟩ last END

round(0.15 n) of a row's n tokens are hidden, in spans of 3 tokens on average; every division into
so many spans, with at least one visible token before each, is equally likely. A sentinel, a token
that no text contains, stands for each span. All rows of a batch have equally many spans, so inputs
have one length and targets another. The draws come from the given generator, or from torch's
default one, which the training loop seeds at every step.

Raffel et al. (2020), JMLR 21(140), figure 2. Notes: L "Transformer Impact, Extensions and
Limitations" (T5).
"""

from dataclasses import dataclass
from typing import NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Int
from torch import Tensor

from chainrule.arguments import checked
from chainrule.errors import InputError
from chainrule.learning.masking import uniform


@checked
@dataclass(frozen=True)
class SpanScheme:
    """How spans are cut out.

    Args:
        first_sentinel: The token of the first span; those after it are for the next spans.
        end: The token that ends inputs and targets.
        hidden: Share of the tokens that are cut out.
        span: Mean number of tokens of a span.
    """

    first_sentinel: int
    end: int
    hidden: float = 0.15
    span: float = 3.0

    def __post_init__(self) -> None:
        if not 0 <= self.end < self.first_sentinel:
            raise InputError(
                "expected 0 ≤ `end` < `first_sentinel`, as sentinels follow all other tokens; got "
                f"{self.end} and {self.first_sentinel}"
            )
        if not 0 < self.hidden < 1 or not 1 <= self.span < float("inf"):
            raise InputError(
                "expected `hidden` between 0 and 1 and `span` of 1 or more, got "
                f"{self.hidden} and {self.span}"
            )

    def counts(self, tokens: int) -> tuple[int, int]:
        """(hidden tokens, spans) of a row."""
        if tokens < 2:
            raise InputError(f"expected rows of 2 tokens or more, got {tokens}")
        hidden = min(max(1, round(self.hidden * tokens)), tokens - 1)
        spans = min(max(1, round(hidden / self.span)), tokens - hidden)
        return hidden, spans


class CorruptedTokens(NamedTuple):
    """The texts with a sentinel for each span, and the spans after their sentinels."""

    inputs: Int[Tensor, "batch shorter"]
    targets: Int[Tensor, "batch hidden"]


@checked
def corrupt_spans(
    tokens: Int[Tensor, "batch steps"],
    scheme: SpanScheme,
    generator: torch.Generator | None = None,
) -> CorruptedTokens:
    """Cut spans out of every row."""
    batch, steps = tokens.shape
    hidden, spans = scheme.counts(steps)
    pieces = torch.stack(  # visible, hidden, visible, hidden, …
        [
            random_lengths(tokens, steps - hidden, spans, generator),
            random_lengths(tokens, hidden, spans, generator),
        ],
        2,
    ).flatten(1)
    places = torch.arange(steps, device=tokens.device).expand(batch, -1).contiguous()
    piece = torch.searchsorted(pieces.cumsum(1), places, right=True)
    cut = piece % 2 == 1
    first = cut & (piece.diff(dim=1, prepend=piece[:, :1]) > 0)
    sentinel = scheme.first_sentinel + piece // 2
    end = tokens.new_full((batch, 1), scheme.end)
    inputs = torch.where(first, sentinel, tokens)[~cut | first].view(batch, -1)
    both = torch.stack([sentinel, tokens], 2)[torch.stack([first, cut], 2)].view(batch, -1)
    return CorruptedTokens(torch.cat([inputs, end], 1), torch.cat([both, end], 1))


def random_lengths(
    like: Tensor, total: int, parts: int, generator: torch.Generator | None
) -> Int[Tensor, "batch parts"]:
    """Positive lengths whose sum is `total`, all such rows equally likely."""
    order = uniform(like[:, :1].expand(-1, total - 1), generator).argsort(1)
    cuts = order[:, : parts - 1].sort(1).values + 1
    return F.pad(F.pad(cuts, (1, 0)), (0, 1), value=total).diff(dim=1)
