"""T5's pre-training as a network of the engine, and blanks that are filled by writing.

    loss = mean over the target ⟨1⟩ span ⟨2⟩ span … END of -log p(token | text with blanks, before)

Training hides other spans in every step; evaluation hides the same ones in all epochs and runs, by
a fixed seed.
"""

from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from chainrule.data.text.encoders import TokenEncoder
from chainrule.data.text.vocabulary import Vocabulary
from chainrule.learning.span_corruption import SpanScheme, corrupt_spans
from chainrule.models.attention.t5 import T5
from chainrule.nn.decoding import DecodingConfig, greedy

SEED = 0  # of the spans that are hidden to measure
LONGEST = 12  # characters of a blank, on average, at which writing stops
LOSS, NATS, RIGHT = range(3)  # columns of what `SpanLM` gives


class SpanLM(nn.Module):
    """Rows of the mean -log p of the target's tokens, and for hidden characters alone, given that
    a character comes next: the mean -log p and the share whose most probable one is right."""

    def __init__(self, model: T5, scheme: SpanScheme):
        super().__init__()
        self.model, self.scheme = model, scheme

    def forward(self, tokens: Int[Tensor, "batch steps"]) -> Float[Tensor, "batch 3"]:
        if self.training:
            inputs, targets = corrupt_spans(tokens, self.scheme)
        else:
            drawn = corrupt_spans(tokens.cpu(), self.scheme, torch.Generator().manual_seed(SEED))
            inputs, targets = (t.to(tokens.device) for t in drawn)
        logits = self.model(inputs, F.pad(targets[:, :-1], (1, 0))).float()
        nats = F.cross_entropy(logits.mT, targets, reduction="none")
        hidden = targets < self.scheme.end
        characters = logits[..., : self.scheme.end]  # a blank's end is no mistake in a character
        truth = targets.where(hidden, 0)
        surprise = F.cross_entropy(characters.mT, truth, reduction="none")
        right = (characters.argmax(2) == truth).float()
        columns = nats.mean(1), *(row_mean(t, hidden.float()) for t in (surprise, right))
        return torch.stack(columns, 1)


def row_mean(values: Tensor, chosen: Tensor) -> Float[Tensor, " batch"]:
    """The mean over the chosen entries of each row."""
    return (values * chosen).sum(1) / chosen.sum(1)


def scheme_of(encoder: Any) -> SpanScheme:
    """After the characters come the token that ends a text and the sentinels."""
    assert isinstance(encoder, TokenEncoder)
    characters = len(encoder.vocabulary)
    return SpanScheme(first_sentinel=characters + 1, end=characters)


def written(model: T5, inputs: Tensor, blanks: int, scheme: SpanScheme) -> Int[Tensor, "n length"]:
    """What the model writes for texts with so many blanks."""
    config = DecodingConfig(0, scheme.end, (LONGEST + 1) * blanks + 1)
    model.eval()
    with torch.no_grad():
        return greedy(model.decode_step, model.encode(inputs), len(inputs), config)


def spans(row: Sequence[int], blanks: int, scheme: SpanScheme, words: Vocabulary) -> list[str]:
    """The text after each sentinel, empty where it is missing."""
    found: list[list[int]] = [[] for _ in range(blanks)]
    place = -1
    for token in row:
        if token == scheme.end:
            break
        if token > scheme.end:
            place = token - scheme.first_sentinel
        elif 0 <= place < blanks:
            found[place].append(token)
    return [words.decode(span) for span in found]


def shown(inputs: Sequence[int], fills: Sequence[str], encoder: TokenEncoder) -> str:
    """The text with [what fills] its blanks, on one line."""
    words, text = encoder.vocabulary, ""
    for token in inputs[:-1]:
        number = token - len(words) - 1
        text += f"[{fills[number]}]" if number >= 0 else words.decode([token])
    return text.replace("\n", " / ")
