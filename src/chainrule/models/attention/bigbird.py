"""BigBird's attention: a window, a few global tokens, and random links.

    ξ_t = Σ_s a_ts v_s     over |t - s| ≤ w,   s < g,   s in r random blocks;   all s if t < g

The sequence is cut into blocks of w. All queries of a block share r random blocks outside its
neighborhood, drawn from a seed. At most n (3w + g + rw) products are formed, not n²; only the
boolean mask has n² entries. A window alone carries a signal by w positions in a layer. With random
links the number of blocks reached grows by a factor, so about log n layers connect all positions.

Zaheer et al. (2020), NeurIPS; Watts and Strogatz (1998) for the short paths. Notes: L "Transformer
Impact, Extensions and Limitations" (sparse attention).
"""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from chainrule.arguments import Count, Natural, checked
from chainrule.models.attention.windowed_attention import band_mask
from chainrule.nn.attention import (
    MultiHeadAttention,
    attention,
    attention_weights,
    split_heads,
    stacked_projection,
)


@checked
class BigBirdAttention(MultiHeadAttention):
    """Multi-head self-attention to a window, to global tokens and to random blocks.

        ξ_t = Σ_s a_ts v_s     over |t - s| ≤ w,   s < g,   s in r random blocks;   all s if t < g

    Args:
        hidden_size: Size of the vectors of the sequence.
        num_heads: Number of heads, a divisor of `hidden_size`.
        window: w, the number of neighbors attended to on each side, and the size of a block.
        global_tokens: g, the number of tokens at the start that attend to all tokens and that
            all tokens attend to.
        random_blocks: r, the number of random blocks that each block attends to.
        seed: Seed of the random blocks.

    Example:
        >>> import torch
        >>> from chainrule.models.attention import BigBirdAttention
        >>> layer = BigBirdAttention(hidden_size=8, num_heads=2, window=4, random_blocks=2)
        >>> layer(torch.randn(3, 100, 8)).shape
        torch.Size([3, 100, 8])
    """

    def __init__(
        self,
        hidden_size: Count,
        num_heads: Count,
        window: Count,
        global_tokens: Natural = 0,
        random_blocks: Natural = 1,
        seed: Natural = 0,
    ):
        super().__init__(hidden_size, num_heads)
        self.projection = stacked_projection(hidden_size, *[hidden_size] * 3)
        self.window, self.global_tokens = window, global_tokens
        self.random_blocks, self.seed = random_blocks, seed

    def forward(
        self, x: Float[Tensor, "batch steps hidden"]
    ) -> Float[Tensor, "batch steps hidden"]:
        """Each block attends to the keys gathered for it."""
        q, k, v = split_heads(self.projection(x), self.num_heads, *[self.key_size] * 3)
        steps, g = x.shape[1], min(self.global_tokens, x.shape[1])
        mask = self.mask(steps, x.device)[0, 0]
        heads = torch.empty_like(v)
        heads[:, :, :g] = attention(q[:, :, :g], k, v)
        for start in range(0, steps, self.window):
            rows = slice(start, min(start + self.window, steps))
            seen = mask[max(start, g) : rows.stop].any(0).nonzero()[:, 0]
            if not len(seen):
                continue
            own = mask[rows][:, seen][None, None]
            found = attention(q[:, :, rows], k[:, :, seen], v[:, :, seen], own)
            heads[:, :, max(start, g) : rows.stop] = found[:, :, max(start, g) - start :]
        return self.join_heads(heads)

    def attention_weights(
        self, x: Float[Tensor, "batch steps hidden"]
    ) -> Float[Tensor, "batch heads steps steps"]:
        """A with zeros outside the links."""
        q, k, _ = split_heads(self.projection(x), self.num_heads, *[self.key_size] * 3)
        return attention_weights(q, k, self.mask(x.shape[1], x.device))

    def mask(
        self, steps: int, device: torch.device | None = None
    ) -> Bool[Tensor, "1 1 steps steps"]:
        """True where a position may attend to another."""
        links = random_links(-(-steps // self.window), self.random_blocks, self.seed)
        linked = links.repeat_interleave(self.window, 0).repeat_interleave(self.window, 1)
        linked = linked[:steps, :steps].to(device)
        return band_mask(steps, self.window, self.global_tokens, device) | linked


def random_links(blocks: int, number: int, seed: int) -> Bool[Tensor, "blocks blocks"]:
    """True at `number` random blocks of each row, none of them the block itself or a neighbor."""
    generator = torch.Generator().manual_seed(seed)
    order = torch.rand(blocks, blocks, generator=generator)
    b = torch.arange(blocks)
    order[(b[:, None] - b).abs() <= 1] = 2.0  # after all others
    chosen: Int[Tensor, "blocks number"] = order.argsort(1)[:, :number]
    links = torch.zeros(blocks, blocks, dtype=torch.bool)
    return links.scatter(1, chosen, True) & (order < 1)


def example() -> tuple[BigBirdAttention, Tensor]:
    """Sequences of eleven vectors, a window of two to each side, one global token, one link."""
    return BigBirdAttention(8, 2, window=2, global_tokens=1, random_blocks=1), torch.randn(4, 11, 8)
