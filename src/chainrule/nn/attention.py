"""Attention: every position asks, all positions answer, the weights say who is heard.

    A   = softmax(Q Kᵀ / √d),     Ξ = A V                  Q, K, V affine in the inputs
    MH  = [Ξ_1, …, Ξ_h] W + b                              h heads side by side, each of width d

q·k of independent unit normals has variance d, so the root restores variance 1. Q comes from one
sequence, K and V from the same (self) or from another (cross). Masks are boolean, True = may be
seen; a row that may see nothing gives zeros, and so does its gradient. A itself is stored only for
someone who asks: `attention_weights` for one layer, `attention_maps` for all layers of a model.
Otherwise torch's fused kernel computes A V without it.

Vaswani et al. (2017), NeurIPS. Notes: J 6.1, J 6.2 (whose sum of values lacks the index: ξ_i =
Σ_t a_it v_t), A 2.6.2, L "Attention", L "Multi-Head Attention and Attention Types".
"""

import math
from contextvars import ContextVar

import torch
from jaxtyping import Bool, Float, Shaped
from torch import Tensor, nn

from chainrule.errors import InputError
from chainrule.nn.fused_attention import fused
from chainrule.nn.initialization import initialize
from chainrule.nn.profile import evaluating

Memory = tuple[Tensor, Tensor]
"""Keys and values that were computed before: (batch, heads, steps, d) each."""

SEEN: ContextVar[dict[nn.Module, Tensor] | None] = ContextVar("SEEN", default=None)
"""Where layers leave their weights while somebody looks at them."""


class MultiHead(nn.Module):
    """What self- and cross-attention share: the heads, and the map that joins them."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        if min(width, heads) < 1 or width % heads:
            raise InputError(
                f"expected a width that the heads share evenly, got a width of {width} and "
                f"{heads} heads"
            )
        self.heads = heads
        self.output = initialize(nn.Linear(width, width), "xavier-uniform")

    def joined(
        self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None, causal: bool = False
    ) -> Float[Tensor, "batch queries width"]:
        """[Ξ_1, …, Ξ_h] W + b."""
        seen = None if torch.compiler.is_compiling() else SEEN.get()
        if seen is None:
            found = attention(q, k, v, mask, causal)
        else:
            seen[self] = A = attention_weights(q, k, mask, causal)
            found = A @ v
        return self.output(found.transpose(1, 2).flatten(2))


class SelfAttention(MultiHead):
    """Queries, keys and values of one sequence, by one product."""

    def __init__(self, width: int, heads: int):
        super().__init__(width, heads)
        self.projection = projection(width, width, 3)

    def forward(
        self,
        x: Float[Tensor, "batch steps width"],
        mask: Bool[Tensor, "#batch #heads #steps #steps"] | None = None,
        causal: bool = False,
    ) -> Float[Tensor, "batch steps width"]:
        """causal: a position sees itself and what stands before it."""
        return self.joined(*self.projected(x), mask, causal)

    def advance(
        self, x: Float[Tensor, "batch steps width"], before: Memory | None = None
    ) -> tuple[Float[Tensor, "batch steps width"], Memory]:
        """The next steps of a causal sequence, and the keys and values of all so far."""
        q, k, v = self.projected(x)
        if before is not None:
            k, v = torch.cat([before[0], k], 2), torch.cat([before[1], v], 2)
        return self.joined(q, k, v, causal=True), (k, v)

    def projected(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        q, k, v = apart(self.projection(x), 3, self.heads)
        return q, k, v


class CrossAttention(MultiHead):
    """Queries of one sequence, keys and values of another, whose width may differ."""

    def __init__(self, width: int, heads: int, source_width: int | None = None):
        super().__init__(width, heads)
        self.query = projection(width, width, 1)
        self.source = projection(source_width or width, width, 2)

    def read(self, source: Float[Tensor, "batch keys source_width"]) -> Memory:
        """Keys and values of the other sequence: computed once, asked many times."""
        k, v = apart(self.source(source), 2, self.heads)
        return k, v

    def forward(
        self,
        x: Float[Tensor, "batch queries width"],
        memory: Memory,
        mask: Bool[Tensor, "#batch #heads #queries #keys"] | None = None,
    ) -> Float[Tensor, "batch queries width"]:
        (q,) = apart(self.query(x), 1, self.heads)
        return self.joined(q, *memory, mask)


def attention(
    q: Float[Tensor, "batch heads queries d"],
    k: Float[Tensor, "batch heads keys d"],
    v: Float[Tensor, "batch heads keys values"],
    mask: Bool[Tensor, "#batch #heads #queries #keys"] | None = None,
    causal: bool = False,
) -> Float[Tensor, "batch heads queries values"]:
    """Ξ = softmax(Q Kᵀ / √d) V by the fused kernel."""
    if causal and mask is None and q.shape[2] == k.shape[2]:
        return fused(q, k, v, None, causal=True)
    return fused(q, k, v, visible(mask, causal, q, k), causal=False)


def attention_weights(
    q: Float[Tensor, "batch heads queries d"],
    k: Float[Tensor, "batch heads keys d"],
    mask: Bool[Tensor, "#batch #heads #queries #keys"] | None = None,
    causal: bool = False,
) -> Float[Tensor, "batch heads queries keys"]:
    """A = softmax(Q Kᵀ / √d): rows of convex weights, or of zeros where nothing may be seen."""
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    allowed = visible(mask, causal, q, k)
    if allowed is None:
        return scores.softmax(-1)
    # The least number instead of -∞: a row that sees nothing must not become 0/0.
    A = scores.masked_fill(~allowed, torch.finfo(scores.dtype).min).softmax(-1)
    return A.masked_fill(~allowed, 0.0)


def visible(mask: Tensor | None, causal: bool, q: Tensor, k: Tensor) -> Tensor | None:
    """The mask, and where it is causal also the past; None if all is seen."""
    if mask is not None and (mask.dtype != torch.bool or mask.ndim != 4):
        raise InputError(
            "expected a boolean mask of (batch, heads, queries, keys), True where a key may be "
            f"seen, got {mask.dtype} of {tuple(mask.shape)}; padding_mask makes one of (batch, "
            "keys)"
        )
    queries, keys = q.shape[2], k.shape[2]
    if not causal or queries == 1:
        return mask
    past = causal_mask(queries, keys, q.device)
    return past if mask is None else mask & past


def causal_mask(
    queries: int, keys: int, device: torch.device | None = None
) -> Bool[Tensor, "1 1 queries keys"]:
    """s ≤ t, the queries being the last of the keys."""
    seen = torch.ones(queries, keys, dtype=torch.bool, device=device)
    return seen.tril(keys - queries)[None, None]


def padding_mask(valid: Bool[Tensor, "batch keys"]) -> Bool[Tensor, "batch 1 1 keys"]:
    """True in the columns of valid keys, for all heads and queries."""
    return valid[:, None, None]


def attention_maps(
    model: nn.Module, *inputs: Shaped[Tensor, "..."]
) -> dict[str, Float[Tensor, "batch heads queries keys"]]:
    """A of every layer by its name, in the order in which a forward pass meets them.

    Linear attention never forms A, so it is not among them.
    """
    found: dict[nn.Module, Tensor] = {}
    token = SEEN.set(found)
    try:
        with evaluating(model), torch.no_grad():
            model(*inputs)
    finally:
        SEEN.reset(token)
    names = {part: name for name, part in model.named_modules()}
    return {names[part]: A for part, A in found.items()}


def apart(x: Tensor, parts: int, heads: int) -> tuple[Tensor, ...]:
    """(batch, steps, parts · heads · d) → parts of (batch, heads, steps, d)."""
    batch, steps, width = x.shape
    return tuple(
        part.view(batch, steps, heads, -1).transpose(1, 2) for part in x.split(width // parts, 2)
    )


def projection(inputs: int, width: int, parts: int) -> nn.Linear:
    """`parts` maps to that width in one, each drawn as if it stood alone."""
    layer = nn.Linear(inputs, parts * width)
    bound = math.sqrt(6 / (inputs + width))
    nn.init.uniform_(layer.weight, -bound, bound)
    nn.init.zeros_(layer.bias)
    return layer
