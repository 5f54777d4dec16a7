"""Windowed attention: each position attends to its neighbors and to a few global tokens.

    ξ_t = Σ_s a_ts v_s     over |t - s| ≤ w,  s < g,  and for t < g over all s

w is the window to each side and g the number of global tokens, which come first. The result is that
of self-attention under a mask of this shape, but only n (3w + g) + g n products are formed, not n².
The sequence is cut into blocks of w: a block's keys are its own and those of its two neighbors.

Child et al. (2019); Beltagy, Peters and Cohan (2020), Longformer; Zaheer et al. (2020), BigBird,
whose global tokens share the projections of the others, as here. Notes: L "Transformer Impact,
Extensions and Limitations" (sparse attention).
"""

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor

from chainrule.arguments import Count, Natural, checked
from chainrule.nn.attention import (
    MultiHeadAttention,
    attention,
    attention_weights,
    split_heads,
    stacked_projection,
)
from chainrule.nn.attention_masks import padding_mask


@checked
class WindowedAttention(MultiHeadAttention):
    """Multi-head self-attention within a window, with global tokens at the start.

        ξ_t = Σ_s a_ts v_s     over |t - s| ≤ w,  s < g,  and for t < g over all s

    Args:
        hidden_size: Size of the vectors of the sequence.
        num_heads: Number of heads, a divisor of `hidden_size`.
        window: w, the number of neighbors attended to on each side.
        global_tokens: g, the number of tokens at the start that attend to all tokens and that
            all tokens attend to.

    Example:
        >>> import torch
        >>> from chainrule.models.attention import WindowedAttention
        >>> layer = WindowedAttention(hidden_size=8, num_heads=2, window=4, global_tokens=1)
        >>> layer(torch.randn(3, 100, 8)).shape
        torch.Size([3, 100, 8])
    """

    def __init__(
        self, hidden_size: Count, num_heads: Count, window: Count, global_tokens: Natural = 0
    ):
        super().__init__(hidden_size, num_heads)
        self.projection = stacked_projection(hidden_size, *[hidden_size] * 3)
        self.window, self.global_tokens = window, global_tokens

    def forward(
        self,
        x: Float[Tensor, "batch steps hidden"],
        valid: Bool[Tensor, "batch steps"] | None = None,
    ) -> Float[Tensor, "batch steps hidden"]:
        """valid: False at padding, which is not attended to."""
        q, k, v = split_heads(self.projection(x), self.num_heads, *[self.key_size] * 3)
        return self.join_heads(windowed_attention(q, k, v, self.window, self.global_tokens, valid))

    def attention_weights(
        self,
        x: Float[Tensor, "batch steps hidden"],
        valid: Bool[Tensor, "batch steps"] | None = None,
    ) -> Float[Tensor, "batch heads steps steps"]:
        """A with zeros outside the window, which `forward` never forms."""
        q, k, _ = split_heads(self.projection(x), self.num_heads, *[self.key_size] * 3)
        mask = band_mask(x.shape[1], self.window, self.global_tokens, x.device)
        return attention_weights(q, k, mask if valid is None else mask & padding_mask(valid))


def band_mask(
    steps: int, window: int, global_tokens: int, device: torch.device | None = None
) -> Bool[Tensor, "1 1 steps steps"]:
    """|t - s| ≤ w or s < g or t < g."""
    t = torch.arange(steps, device=device)
    near = (t[:, None] - t).abs() <= window
    return (near | (t < global_tokens) | (t < global_tokens)[:, None])[None, None]


def windowed_attention(
    q: Float[Tensor, "batch heads steps d"],
    k: Float[Tensor, "batch heads steps d"],
    v: Float[Tensor, "batch heads steps d"],
    window: int,
    global_tokens: int = 0,
    valid: Bool[Tensor, "batch steps"] | None = None,
) -> Float[Tensor, "batch heads steps d"]:
    """Attention under `band_mask`, block by block."""
    batch, heads, steps, d = q.shape
    blocks, g = -(-steps // window), min(global_tokens, steps)
    padding = blocks * window - steps
    queries = F.pad(q, (0, 0, 0, padding)).reshape(batch * heads, blocks, window, d)
    keys, values = (
        torch.cat(
            [neighborhoods(t, window, padding), t[:, :, None, :g].expand(-1, -1, blocks, -1, -1)], 3
        )
        for t in (k, v)
    )
    mask = block_mask(steps, window, g, q.device)[None]
    if valid is not None:
        near = neighborhoods(valid[:, None, :, None], window, padding)[:, 0, :, None, :, 0]
        far = valid[:, None, None, :g].expand(-1, blocks, -1, -1)
        mask = (mask & torch.cat([near, far], 3)).repeat_interleave(heads, 0)
    output = attention(queries, keys.flatten(0, 1), values.flatten(0, 1), mask)
    output = output.view(batch, heads, -1, d)[:, :, :steps]
    if not g:
        return output
    everything = None if valid is None else padding_mask(valid)
    return torch.cat([attention(q[:, :, :g], k, v, everything), output[:, :, g:]], 2)


def neighborhoods(t: Tensor, window: int, padding: int) -> Tensor:
    """(batch, heads, steps, d) → (batch, heads, blocks, 3w, d): each block with its neighbors."""
    return F.pad(t, (0, 0, window, padding + window)).unfold(2, 3 * window, window).mT


def block_mask(
    steps: int, window: int, global_tokens: int, device: torch.device
) -> Bool[Tensor, "blocks window keys"]:
    """True where a query of a block may attend to a key of its neighborhood or to a global one."""
    blocks = -(-steps // window)
    t = torch.arange(blocks * window, device=device).view(blocks, window, 1)
    s = (t[:, :1] - window) + torch.arange(3 * window, device=device)
    near = ((t - s).abs() <= window) & (s >= global_tokens) & (s < steps)
    far = torch.ones(blocks, window, global_tokens, dtype=torch.bool, device=device)
    return torch.cat([near, far], 2)


def example() -> tuple[WindowedAttention, Tensor]:
    """Sequences of eleven vectors, a window of two to each side, one global token."""
    return WindowedAttention(8, num_heads=2, window=2, global_tokens=1), torch.randn(4, 11, 8)
