"""Windowed attention: look at the neighbors, and at a few tokens that everybody sees.

    ξ_t = Σ_s a_ts v_s     over |t - s| ≤ w,  s < g,  and for t < g over all s

w is the window to each side, g the number of global tokens, the first ones. Everything else is as
in self-attention, and so is the result with a mask of that shape; but only n (3w + g) + g n
products are formed, not n². The sequence is cut into blocks of w: a block's keys are its own and
those of its two neighbors.

Child et al. (2019); Beltagy, Peters and Cohan (2020), Longformer; Zaheer et al. (2020), BigBird,
whose global tokens share the maps of the others, as here. Notes: L "Transformer Impact, Extensions
and Limitations" (sparse attention).
"""

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor

from chainrule.errors import InputError
from chainrule.nn.attention import SEEN, MultiHead, apart, attention, padding_mask, projection


class WindowedAttention(MultiHead):
    """Multi-head self-attention within a window, with global tokens at the start."""

    def __init__(self, width: int, heads: int, window: int, everywhere: int = 0):
        """everywhere: how many tokens at the start see all and are seen by all."""
        super().__init__(width, heads)
        if window < 1 or everywhere < 0:
            raise InputError(
                f"expected a window of 1 or more and 0 or more global tokens, got {window} and "
                f"{everywhere}"
            )
        self.projection = projection(width, width, 3)
        self.window, self.everywhere = window, everywhere

    def forward(
        self,
        x: Float[Tensor, "batch steps width"],
        valid: Bool[Tensor, "batch steps"] | None = None,
    ) -> Float[Tensor, "batch steps width"]:
        """valid: False at padding, which nobody sees."""
        q, k, v = apart(self.projection(x), 3, self.heads)
        if SEEN.get() is not None:  # somebody wants the weights, so all of them
            mask = band_mask(x.shape[1], self.window, self.everywhere, x.device)
            return self.joined(q, k, v, mask if valid is None else mask & padding_mask(valid))
        found = windowed(q, k, v, self.window, self.everywhere, valid)
        return self.output(found.transpose(1, 2).flatten(2))


def band_mask(
    steps: int, window: int, everywhere: int, device: torch.device | None = None
) -> Bool[Tensor, "1 1 steps steps"]:
    """|t - s| ≤ w or s < g or t < g."""
    t = torch.arange(steps, device=device)
    near = (t[:, None] - t).abs() <= window
    return (near | (t < everywhere) | (t < everywhere)[:, None])[None, None]


def windowed(
    q: Float[Tensor, "batch heads steps d"],
    k: Float[Tensor, "batch heads steps d"],
    v: Float[Tensor, "batch heads steps d"],
    window: int,
    everywhere: int = 0,
    valid: Bool[Tensor, "batch steps"] | None = None,
) -> Float[Tensor, "batch heads steps d"]:
    """Attention under `band_mask`, block by block."""
    batch, heads, steps, d = q.shape
    blocks, g = -(-steps // window), min(everywhere, steps)
    spare = blocks * window - steps
    queries = F.pad(q, (0, 0, 0, spare)).reshape(batch * heads, blocks, window, d)
    keys, values = (
        torch.cat(
            [neighbors(t, window, spare), t[:, :, None, :g].expand(-1, -1, blocks, -1, -1)], 3
        )
        for t in (k, v)
    )
    mask = block_mask(steps, window, g, q.device)[None]
    if valid is not None:
        near = neighbors(valid[:, None, :, None], window, spare)[:, 0, :, None, :, 0]
        far = valid[:, None, None, :g].expand(-1, blocks, -1, -1)
        mask = (mask & torch.cat([near, far], 3)).repeat_interleave(heads, 0)
    found = attention(queries, keys.flatten(0, 1), values.flatten(0, 1), mask)
    found = found.view(batch, heads, -1, d)[:, :, :steps]
    if not g:
        return found
    everyone = None if valid is None else padding_mask(valid)
    return torch.cat([attention(q[:, :, :g], k, v, everyone), found[:, :, g:]], 2)


def neighbors(t: Tensor, window: int, spare: int) -> Tensor:
    """(batch, heads, steps, d) → (batch, heads, blocks, 3w, d): a block and the two beside it."""
    return F.pad(t, (0, 0, window, spare + window)).unfold(2, 3 * window, window).mT


def block_mask(
    steps: int, window: int, everywhere: int, device: torch.device
) -> Bool[Tensor, "blocks window keys"]:
    """True where a query of a block may see a key of its neighborhood, or a global one."""
    blocks = -(-steps // window)
    t = torch.arange(blocks * window, device=device).view(blocks, window, 1)
    s = (t[:, :1] - window) + torch.arange(3 * window, device=device)
    near = ((t - s).abs() <= window) & (s >= everywhere) & (s < steps)
    far = torch.ones(blocks, window, everywhere, dtype=torch.bool, device=device)
    return torch.cat([near, far], 2)


def example() -> tuple[WindowedAttention, Tensor]:
    """Sequences of eleven vectors, a window of two to each side, one global token."""
    return WindowedAttention(8, heads=2, window=2, everywhere=1), torch.randn(4, 11, 8)
