"""Linear attention: a kernel in place of the softmax, so that the keys can be summed first.

    ξ_t = Σ_s φ(q_t)·φ(k_s) v_s / Σ_s φ(q_t)·φ(k_s)          φ(x) = elu(x) + 1 > 0
        = φ(q_t) S / φ(q_t) z,     S = Σ_s φ(k_s) v_sᵀ,  z = Σ_s φ(k_s)

This takes n d² products instead of n² d. In causal attention S and z are running sums: a recurrent
network whose state has d (d + 1) entries per head, however long the text. They are summed chunk by
chunk, and within a chunk in the quadratic form. z is stored as one more column of S, that of v = 1.

Katharopoulos, Vyas, Pappas and Fleuret (2020), ICML. Notes: L "Transformer Impact, Extensions and
Limitations" (linear attention).
"""

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor

from chainrule.arguments import Count, checked
from chainrule.errors import InputError
from chainrule.nn.attention import MultiHeadAttention, split_heads, stacked_projection
from chainrule.nn.attention_masks import causal_mask, padding_mask

CHUNK = 64
MIN_SUM = 1e-6  # of the weights, as in the authors' code: without allowed keys the output is zero

Heads = Float[Tensor, "batch heads steps d"]
State = Float[Tensor, "batch heads d columns"]


@checked
class LinearAttention(MultiHeadAttention):
    """Multi-head self-attention with a kernel φ(x) = elu(x) + 1 in place of the softmax.

        ξ_t = Σ_s φ(q_t)·φ(k_s) v_s / Σ_s φ(q_t)·φ(k_s)

    Args:
        hidden_size: Size of the vectors of the sequence.
        num_heads: Number of heads, a divisor of `hidden_size`.
        causal: Whether the sum is over s ≤ t only.

    Example:
        >>> import torch
        >>> from chainrule.models.attention import LinearAttention
        >>> layer = LinearAttention(hidden_size=8, num_heads=2, causal=True)
        >>> x = torch.randn(3, 100, 8)
        >>> layer(x).shape
        torch.Size([3, 100, 8])
        >>> y, state = layer.decode_step(x[:, :1])
        >>> torch.allclose(y, layer(x)[:, :1], atol=1e-6)
        True
    """

    def __init__(self, hidden_size: Count, num_heads: Count, causal: bool = False):
        super().__init__(hidden_size, num_heads)
        self.projection = stacked_projection(hidden_size, *[hidden_size] * 3)
        self.causal = causal

    def forward(
        self,
        x: Float[Tensor, "batch steps hidden"],
        valid: Bool[Tensor, "batch steps"] | None = None,
    ) -> Float[Tensor, "batch steps hidden"]:
        """valid: False at padding, which is not attended to."""
        q, k, v = self.project(x)
        if valid is not None:
            k = k * valid[:, None, :, None]
        return self.join_heads(causal_sums(q, k, v)[0] if self.causal else full_sums(q, k, v))

    def attention_weights(
        self,
        x: Float[Tensor, "batch steps hidden"],
        valid: Bool[Tensor, "batch steps"] | None = None,
    ) -> Float[Tensor, "batch heads steps steps"]:
        """φ(q_t)·φ(k_s) / Σ_s φ(q_t)·φ(k_s), which `forward` never forms."""
        q, k, _ = self.project(x)
        A = q @ k.mT
        if self.causal:
            A = A.masked_fill(~causal_mask(A.shape[2], A.shape[3], x.device), 0)
        if valid is not None:
            A = A.masked_fill(~padding_mask(valid), 0)
        return A / A.sum(-1, keepdim=True).clamp_min(MIN_SUM)

    def decode_step(
        self, x: Float[Tensor, "batch steps hidden"], state: State | None = None
    ) -> tuple[Float[Tensor, "batch steps hidden"], State]:
        """The output for the next steps of a causal sequence, and S with z after them."""
        if not self.causal:
            raise InputError("decode_step needs causal attention; build the layer with causal=True")
        heads, state = causal_sums(*self.project(x), state)
        return self.join_heads(heads), state

    def project(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """φ(q), φ(k) and v, split into heads."""
        q, k, v = split_heads(self.projection(x), self.num_heads, *[self.key_size] * 3)
        return features(q), features(k), v


def features(x: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    """φ(x) = elu(x) + 1."""
    return F.elu(x) + 1


def full_sums(q: Heads, k: Heads, v: Heads) -> Heads:
    """φ(q) S / φ(q) z over all keys, given φ(q) and φ(k)."""
    return normalized(q @ (k.mT @ with_ones(v)))


def causal_sums(q: Heads, k: Heads, v: Heads, state: State | None = None) -> tuple[Heads, State]:
    """φ(q_t) S_t / φ(q_t) z_t with the sums over s ≤ t, starting at `state`; and the last sums."""
    batch, heads, steps, d = q.shape
    padding = -steps % CHUNK if steps > CHUNK else 0
    q, k, v = (
        F.pad(t, (0, 0, 0, padding)).unflatten(2, (-1, min(CHUNK, steps)))
        for t in (q, k, with_ones(v))
    )
    sums = (k.mT @ v).cumsum(2)  # over chunks
    start = sums.new_zeros(batch, heads, d, v.shape[-1]) if state is None else state
    earlier = torch.cat([start[:, :, None], sums[:, :, :-1] + start[:, :, None]], 2)
    numerators = q @ earlier + (q @ k.mT).tril() @ v
    return normalized(numerators.flatten(2, 3)[:, :, :steps]), sums[:, :, -1] + start


def with_ones(v: Tensor) -> Tensor:
    return torch.cat([v, torch.ones_like(v[..., :1])], -1)


def normalized(sums: Tensor) -> Tensor:
    """The numerators divided by the denominator in the last column."""
    return sums[..., :-1] / sums[..., -1:].clamp_min(MIN_SUM)


def example() -> tuple[LinearAttention, Tensor]:
    """Sequences of eleven vectors, two heads."""
    return LinearAttention(8, num_heads=2), torch.randn(4, 11, 8)
