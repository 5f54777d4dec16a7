"""Linear attention: with a kernel in place of the softmax, sums can be taken first.

    ξ_t = Σ_s φ(q_t)·φ(k_s) v_s / Σ_s φ(q_t)·φ(k_s)          φ(x) = elu(x) + 1 > 0
        = φ(q_t) S / φ(q_t) z,     S = Σ_s φ(k_s) v_sᵀ,  z = Σ_s φ(k_s)

So n d² products in place of n² d. Where only the past is seen, S and z are running sums: a
recurrent network whose state has d (d + 1) numbers per head, however long the text. They are
summed chunk by chunk, within a chunk in the quadratic form. z is carried as one more column of S,
the one of v = 1.

Katharopoulos, Vyas, Pappas and Fleuret (2020), ICML. Notes: L "Transformer Impact, Extensions and
Limitations" (linear attention).
"""

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor

from chainrule.errors import InputError
from chainrule.nn.attention import MultiHead, apart, projection

CHUNK = 64
LEAST = 1e-6  # of the sum of weights, as in the authors' code: nothing to see gives zeros

Heads = Float[Tensor, "batch heads steps d"]
State = Float[Tensor, "batch heads d columns"]


class LinearAttention(MultiHead):
    """Multi-head attention by φ; causal: a position sees itself and what stands before it."""

    def __init__(self, width: int, heads: int, causal: bool = False):
        super().__init__(width, heads)
        self.projection = projection(width, width, 3)
        self.causal = causal

    def forward(
        self,
        x: Float[Tensor, "batch steps width"],
        valid: Bool[Tensor, "batch steps"] | None = None,
    ) -> Float[Tensor, "batch steps width"]:
        """valid: False at padding, which nobody sees."""
        q, k, v = self.projected(x)
        if valid is not None:
            k = k * valid[:, None, :, None]
        found = past(q, k, v)[0] if self.causal else everywhere(q, k, v)
        return self.output(found.transpose(1, 2).flatten(2))

    def advance(
        self, x: Float[Tensor, "batch steps width"], before: State | None = None
    ) -> tuple[Float[Tensor, "batch steps width"], State]:
        """The next steps of a causal sequence, and S with z after them."""
        if not self.causal:
            raise InputError("only causal attention can go on where it stopped; make it causal")
        found, after = past(*self.projected(x), before)
        return self.output(found.transpose(1, 2).flatten(2)), after

    def projected(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """φ(q), φ(k) and v."""
        q, k, v = apart(self.projection(x), 3, self.heads)
        return features(q), features(k), v


def features(x: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    """φ(x) = elu(x) + 1."""
    return F.elu(x) + 1


def everywhere(q: Heads, k: Heads, v: Heads) -> Heads:
    """φ(q) S / φ(q) z, of all keys; q and k are features already."""
    return divided(q @ (k.mT @ with_ones(v)))


def past(q: Heads, k: Heads, v: Heads, before: State | None = None) -> tuple[Heads, State]:
    """φ(q_t) S_t / φ(q_t) z_t with the sums up to t, which begin at `before`; and the last sums."""
    batch, heads, steps, d = q.shape
    spare = -steps % CHUNK if steps > CHUNK else 0
    q, k, v = (
        F.pad(t, (0, 0, 0, spare)).unflatten(2, (-1, min(CHUNK, steps)))
        for t in (q, k, with_ones(v))
    )
    sums = (k.mT @ v).cumsum(2)  # over chunks
    start = sums.new_zeros(batch, heads, d, v.shape[-1]) if before is None else before
    earlier = torch.cat([start[:, :, None], sums[:, :, :-1] + start[:, :, None]], 2)
    found = q @ earlier + (q @ k.mT).tril() @ v
    return divided(found.flatten(2, 3)[:, :, :steps]), sums[:, :, -1] + start


def quadratic(
    q: Heads, k: Heads, mask: Bool[Tensor, "#batch #heads #steps #steps"] | None = None
) -> Float[Tensor, "batch heads steps steps"]:
    """The weights φ(q_t)·φ(k_s) / Σ_s φ(q_t)·φ(k_s) themselves, for looking at."""
    A = q @ k.mT if mask is None else (q @ k.mT).masked_fill(~mask, 0)
    return A / A.sum(-1, keepdim=True).clamp_min(LEAST)


def with_ones(v: Tensor) -> Tensor:
    return torch.cat([v, torch.ones_like(v[..., :1])], -1)


def divided(found: Tensor) -> Tensor:
    """Numerators by the denominator in the last column."""
    return found[..., :-1] / found[..., -1:].clamp_min(LEAST)


def example() -> tuple[LinearAttention, Tensor]:
    """Sequences of eleven vectors, two heads."""
    return LinearAttention(8, heads=2), torch.randn(4, 11, 8)
