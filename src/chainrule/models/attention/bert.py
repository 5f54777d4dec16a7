"""BERT: an encoder that reads a text from both sides.

    h = N(e_x + p_t + s_k)                                 token, learned position, segment 0 or 1
    h ← N(h + A(h)),   h ← N(h + F(h))                     L post-norm blocks

A text is [CLS] a … [SEP], a pair of texts [CLS] a … [SEP] b … [SEP] with segment 1 from b on. What
comes out is a vector for each token in its context; heads for pre-training and for tasks stand in
`bert_pretraining`, `bert_classifier`, `bert_tagger` and `bert_questions`. Token 0, [PAD], is never
attended to. φ is the GELU, F four times as wide as h; dropout spares the attention weights. The
positions begin as sinusoids: one map finds a token's neighbors at all places, where random ones
must be learned place by place. Default sizes are BERT-base's, whose published weights
`load_published` reads.

Devlin, Chang, Lee and Toutanova (2019), NAACL. Notes: J 6.5.
"""

import math
from collections.abc import Mapping
from pathlib import Path

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from chainrule.errors import InputError
from chainrule.nn.attention import padding_mask
from chainrule.nn.dropout import dropout as dropped
from chainrule.nn.positions import LearnedPositions, rotation, sinusoidal
from chainrule.nn.transformer_block import Block, draw_weights
from chainrule.pretrained.loading import load_published as fit
from chainrule.pretrained.state_dict_rules import opened, stacked, without

PADDING = 0
EPS = 1e-12
SEGMENTS = 2
SIGMA = 0.02  # of all weights in the beginning
SHARP = 2.0  # g: how much more a head looks where it should


class BERT(nn.Module):
    """Tokens → a vector for each, from the whole text."""

    def __init__(
        self,
        symbols: int = 30_522,
        longest: int = 512,
        width: int = 768,
        depth: int = 12,
        heads: int = 12,
        dropout: float = 0.1,
    ):
        super().__init__()
        if symbols < 2 or depth < 1:
            raise InputError(
                f"BERT needs two symbols and one block, got {symbols} symbols and {depth} blocks"
            )
        self.symbols, self.longest, self.width, self.rate = symbols, longest, width, dropout
        self.embedding = nn.Embedding(symbols, width)
        self.positions = LearnedPositions(longest, width)
        self.segments = nn.Embedding(SEGMENTS, width)
        self.norm = nn.LayerNorm(width, eps=EPS)
        self.blocks = nn.ModuleList(
            Block(width, heads, 4 * width, "post", F.gelu, dropout, EPS) for _ in range(depth)
        )
        draw_weights(self, SIGMA)
        with torch.no_grad():
            self.positions.weight.copy_(SIGMA * math.sqrt(2) * sinusoidal(longest, width))

    @torch.no_grad()
    def begin_with(self, meanings: Float[Tensor, "symbols some"]) -> None:
        """The last entries of the tokens' vectors are these, and no gradient moves them.

        The last ones, because neighbors are told apart by the first entries of the positions.

        Rows of length one become entries as large as the others, longer ones larger. Rows of zeros
        are tokens of which nothing is known: they are learned altogether.
        """
        symbols, some = meanings.shape
        if symbols != self.symbols or some > self.width:
            raise InputError(
                f"expected vectors of at most {self.width} numbers for {self.symbols} tokens, got "
                f"{some} for {symbols}"
            )
        known = meanings.ne(0).any(1)
        scale = SIGMA * math.sqrt(some)
        weight = self.embedding.weight
        weight[known, self.width - some :] = scale * meanings[known].to(weight)
        kept = known[:, None] & (torch.arange(self.width) >= self.width - some)
        weight.register_hook(lambda gradient: gradient.masked_fill(kept.to(gradient.device), 0))

    @torch.no_grad()
    def look_around(self) -> None:
        """The heads of the first block begin with the words before and behind: -1, +1, -2, …

        q_t = g R_k p_t and k_s = g p_s, on the fastest entries of p: their product is largest where
        s = t + k. There the tokens' own vectors begin with zeros.
        """
        first = self.blocks[0]
        assert isinstance(first, Block)
        heads = first.attention.heads
        size = self.width // heads
        query, key, _ = first.attention.projection.weight.unflatten(0, (3, heads, size))
        for head in range(heads):
            offset = (head // 2 + 1) * (-1 if head % 2 == 0 else 1)
            query[head] = SHARP * rotation(offset, self.width)[:size]
            key[head] = SHARP * torch.eye(self.width)[:size]
        self.embedding.weight[:, :size] = 0

    def forward(
        self,
        tokens: Int[Tensor, "batch steps"],
        segments: Int[Tensor, "batch steps"] | None = None,
    ) -> Float[Tensor, "batch steps width"]:
        """segments: 0 or 1 for each token; without them all belong to the first text."""
        s = self.segments.weight[0] if segments is None else self.segments(segments)
        e = self.embedding(tokens) + self.positions(tokens.shape[1]) + s
        h = dropped(self.norm(e), self.rate, self.training)
        mask = padding_mask(tokens != PADDING)
        for block in self.blocks:
            h = block(h, mask)
        return h


RULES = (
    (r"bert\.", ""),
    (r"(.*)\.gamma$", r"\1.weight"),  # older files call a norm's weight and bias so
    (r"(.*)\.beta$", r"\1.bias"),
    (r"embeddings\.word_embeddings\.", "embedding."),
    (r"embeddings\.position_embeddings\.", "positions."),
    (r"embeddings\.token_type_embeddings\.", "segments."),
    (r"embeddings\.LayerNorm\.", "norm."),
    (r"encoder\.layer\.(\d+)\.", r"blocks.\1."),
    (r"(blocks\.\d+\.attention)\.self\.", r"\1."),
    (r"(blocks\.\d+)\.attention\.output\.LayerNorm\.", r"\1.norm_1."),
    (r"(blocks\.\d+\.attention\.output)\.dense\.", r"\1."),
    (r"(blocks\.\d+)\.intermediate\.dense\.", r"\1.feed_forward.inner."),
    (r"(blocks\.\d+)\.output\.dense\.", r"\1.feed_forward.outer."),
    (r"(blocks\.\d+)\.output\.LayerNorm\.", r"\1.norm_2."),
)


WITHIN = (
    (r"(embedding|positions|segments|norm|blocks)\.", r"bert.\1."),
    (r"pooler\.dense\.", "pooler."),
)
"""For models that hold BERT as their part `bert`."""


def load_published(model: BERT, weights: str | Path | Mapping[str, Tensor]) -> None:
    """BERT's weights under their public names, from a safetensors file or a state dict.

    Heads that the file holds are not read.
    """
    fit(model, without(published(weights), r"(cls|pooler|classifier|qa_outputs)\..*"))


def load_with_head(
    model: nn.Module, weights: str | Path | Mapping[str, Tensor], published_head: str, head: bool
) -> None:
    """Into a model with the parts `bert`, `output` and perhaps `pooler`.

    Without the `head`, `output` keeps its initial values, and the file may hold other heads.
    """
    state = opened(published(weights), (*WITHIN, (rf"{published_head}\.", "output.")))
    if not head:
        state = without(state, r"(cls|classifier|qa_outputs|output)\..*")
    if not hasattr(model, "pooler"):
        state = without(state, r"pooler\..*")
    fit(model, state, () if head else ("output",))


def published(weights: str | Path | Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The entries of a published file under our names, those of heads under theirs."""
    state = stacked(opened(weights, RULES), ("query", "key", "value"), "projection")
    return without(state, r"embeddings\.position_ids")  # 0, 1, 2, … in some files


def example() -> tuple[BERT, Tensor]:
    """Nine tokens, two blocks of two heads, and five texts of six tokens."""
    return BERT(9, longest=8, width=8, depth=2, heads=2, dropout=0.0), torch.randint(1, 9, (5, 6))
