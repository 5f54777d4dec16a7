"""BERT: a transformer encoder that sees the whole text at every position.

    x_t = N(e_{w_t} + p_t + s_k)                           embeddings of token, position, segment
    x   ← N(x + A(x)),   x ← N(x + F(x))                   L post-norm blocks

The input is [CLS] a … [SEP] for one text or [CLS] a … [SEP] b … [SEP] for a pair, whose second text
has segment 1. The output is a contextual vector for each token; `BertPretraining`,
`BertClassifier`, `BertTagger` and `BertQuestionAnswering` add heads to it. φ is the GELU and F four
times as wide as x; there is no dropout of attention weights. Token 0, [PAD], is never attended to.

The positions start as sinusoids: with them one linear map finds a token's neighbors at all
positions, with random ones it must be learned for each. The default sizes are BERT-base's, and
`chainrule.pretrained.load` reads its published weights.

Devlin, Chang, Lee and Toutanova (2019), NAACL. Notes: J 6.5.
"""

import math

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from chainrule.arguments import Count, Rate, TwoOrMore, checked
from chainrule.errors import InputError
from chainrule.nn.attention_masks import padding_mask
from chainrule.nn.dropout import dropout as dropped
from chainrule.nn.positions import LearnedPositions, rotation, sinusoidal
from chainrule.nn.transformer_block import Block, PostNormBlock, normal_initialization

PADDING = 0
EPS = 1e-12
SEGMENTS = 2
SIGMA = 0.02  # standard deviation of the initial weights
SHARPNESS = 2.0  # g of `initialize_neighbor_heads`


@checked
class BERT(nn.Module):
    """A transformer encoder: tokens → a vector for each, which depends on the whole text.

        x_t = N(e_{w_t} + p_t + s_k)
        x   ← N(x + A(x)),   x ← N(x + F(x))               L post-norm blocks

    Args:
        vocab_size: Number of tokens in the vocabulary.
        max_length: Most tokens of a text, the number of positions.
        hidden_size: Size of the vector x_t of a token.
        num_layers: Number of blocks, L.
        num_heads: Number of attention heads, a divisor of `hidden_size`.
        dropout: Dropout probability of the embeddings and of A(·) and F(·).

    Example:
        >>> import torch
        >>> from chainrule.models.attention import BERT
        >>> model = BERT(vocab_size=100, max_length=16, hidden_size=32, num_layers=2, num_heads=4)
        >>> model(torch.randint(1, 100, (3, 12))).shape
        torch.Size([3, 12, 32])
    """

    def __init__(
        self,
        vocab_size: TwoOrMore = 30_522,
        max_length: Count = 512,
        hidden_size: Count = 768,
        num_layers: Count = 12,
        num_heads: Count = 12,
        dropout: Rate = 0.1,
    ):
        super().__init__()
        self.vocab_size, self.max_length = vocab_size, max_length
        self.hidden_size, self.dropout = hidden_size, dropout
        self.embedding = nn.Embedding(vocab_size, hidden_size)
        self.positions = LearnedPositions(max_length, hidden_size)
        self.segments = nn.Embedding(SEGMENTS, hidden_size)
        self.norm = nn.LayerNorm(hidden_size, eps=EPS)
        self.blocks = nn.ModuleList(
            PostNormBlock(hidden_size, num_heads, 4 * hidden_size, F.gelu, dropout, EPS)
            for _ in range(num_layers)
        )
        normal_initialization(self, SIGMA)
        with torch.no_grad():
            self.positions.weight.copy_(SIGMA * math.sqrt(2) * sinusoidal(max_length, hidden_size))

    def forward(
        self,
        tokens: Int[Tensor, "batch steps"],
        segments: Int[Tensor, "batch steps"] | None = None,
    ) -> Float[Tensor, "batch steps hidden"]:
        """segments: 0 or 1 for each token; by default all 0."""
        s = self.segments.weight[0] if segments is None else self.segments(segments)
        e = self.embedding(tokens) + self.positions(tokens.shape[1]) + s
        x = dropped(self.norm(e), self.dropout, self.training)
        mask = padding_mask(tokens != PADDING)
        for block in self.blocks:
            x = block(x, mask)
        return x

    @torch.no_grad()
    def fix_embeddings(self, vectors: Float[Tensor, "vocab size"]) -> None:
        """Set the last entries of the token embeddings to these vectors and exclude them from
        training; tokens whose vector is zero keep their initial embedding and are trained.

        Vectors of length one are scaled to entries of the usual size. The first entries stay free
        because `initialize_neighbor_heads` uses them for the positions.
        """
        vocab_size, size = vectors.shape
        if vocab_size != self.vocab_size or size > self.hidden_size:
            raise InputError(
                f"expected vectors of at most {self.hidden_size} entries for {self.vocab_size} "
                f"tokens, got {size} entries for {vocab_size} tokens"
            )
        known = vectors.ne(0).any(1)
        scale = SIGMA * math.sqrt(size)
        weight = self.embedding.weight
        weight[known, self.hidden_size - size :] = scale * vectors[known].to(weight)
        fixed = known[:, None] & (torch.arange(self.hidden_size) >= self.hidden_size - size)
        weight.register_hook(lambda gradient: gradient.masked_fill(fixed.to(gradient.device), 0))

    @torch.no_grad()
    def initialize_neighbor_heads(self) -> None:
        """Let the heads of the first block start by attending to the offsets -1, +1, -2, +2, …

        q_t = g R_k p_t and k_s = g p_s on the fastest entries of p; their product is largest where
        s = t + k. The token embeddings start with zeros in those entries.
        """
        first = self.blocks[0]
        assert isinstance(first, Block)
        num_heads = first.attention.num_heads
        size = self.hidden_size // num_heads
        query, key, _ = first.attention.projection.weight.unflatten(0, (3, num_heads, size))
        for head in range(num_heads):
            offset = (head // 2 + 1) * (-1 if head % 2 == 0 else 1)
            query[head] = SHARPNESS * rotation(offset, self.hidden_size)[:size]
            key[head] = SHARPNESS * torch.eye(self.hidden_size)[:size]
        self.embedding.weight[:, :size] = 0


def example() -> tuple[BERT, Tensor]:
    """A vocabulary of nine tokens, two blocks of two heads, and five texts of six tokens."""
    model = BERT(9, max_length=8, hidden_size=8, num_layers=2, num_heads=2, dropout=0.0)
    return model, torch.randint(1, 9, (5, 6))
