"""The block that transformers are built of: attention, then a small network at every position.

    post-norm   x ← N(x + A(x)),      x ← N(x + F(x))        Vaswani et al. (2017)
    pre-norm    x ← x + A(N(x)),      x ← x + F(N(x))        Xiong et al. (2020): gradients of like
                                                             size in all layers, no warm-up needed
    F(x) = W_2 φ(W_1 x + b_1) + b_2

N is layer normalization. Units of A(·) and F(·) are dropped before they are added, as in the first
paper. Notes: J 6.4, L "Complete Transformer Architecture".
"""

import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn

from chainrule.errors import InputError
from chainrule.nn.activations import Activation
from chainrule.nn.attention import Memory, SelfAttention
from chainrule.nn.dropout import dropout as dropped
from chainrule.nn.initialization import initialize

PLACES = ("pre", "post")


class Skip(nn.LayerNorm):
    """The norm of a sublayer, and the sum around both."""

    def __init__(self, width: int, norm: str, dropout: float, eps: float = 1e-5):
        super().__init__(width, eps=eps)
        if norm not in PLACES:
            raise InputError(f"expected norm pre or post, got {norm!r}")
        if not 0 <= dropout < 1:
            raise InputError(f"expected a dropout from 0 to below 1, got {dropout}")
        self.first, self.rate = norm == "pre", dropout

    def before(self, x: Tensor) -> Tensor:
        """What the sublayer reads."""
        return self(x) if self.first else x

    def after(self, x: Tensor, f: Tensor) -> Tensor:
        """What comes of x and the sublayer's answer f."""
        x = x + dropped(f, self.rate, self.training)
        return x if self.first else self(x)


class FeedForward(nn.Module):
    """W_2 φ(W_1 x + b_1) + b_2, the same at every position."""

    def __init__(self, width: int, hidden: int, activation: Activation):
        super().__init__()
        self.inner = initialize(nn.Linear(width, hidden), "xavier-uniform")
        self.outer = initialize(nn.Linear(hidden, width), "xavier-uniform")
        self.activation = activation

    def forward(self, x: Float[Tensor, "*batch width"]) -> Float[Tensor, "*batch width"]:
        return self.outer(self.activation(self.inner(x)))


class Block(nn.Module):
    """Self-attention and a feed-forward network, each with its norm and its skip."""

    def __init__(
        self,
        width: int,
        heads: int,
        hidden: int,
        norm: str = "pre",
        activation: Activation = F.gelu,
        dropout: float = 0.0,
        eps: float = 1e-5,
    ):
        super().__init__()
        self.norm_1 = Skip(width, norm, dropout, eps)
        self.attention = SelfAttention(width, heads)
        self.norm_2 = Skip(width, norm, dropout, eps)
        self.feed_forward = FeedForward(width, hidden, activation)

    def forward(
        self,
        x: Float[Tensor, "batch steps width"],
        mask: Bool[Tensor, "#batch 1 #steps #steps"] | None = None,
        causal: bool = False,
    ) -> Float[Tensor, "batch steps width"]:
        x = self.norm_1.after(x, self.attention(self.norm_1.before(x), mask, causal))
        return self.norm_2.after(x, self.feed_forward(self.norm_2.before(x)))

    def advance(
        self, x: Float[Tensor, "batch steps width"], before: Memory | None
    ) -> tuple[Float[Tensor, "batch steps width"], Memory]:
        """The next steps of a causal sequence, and what later ones must know of it."""
        f, after = self.attention.advance(self.norm_1.before(x), before)
        x = self.norm_1.after(x, f)
        return self.norm_2.after(x, self.feed_forward(self.norm_2.before(x))), after


def draw_weights(model: nn.Module, sigma: float = 0.02) -> None:
    """Matrices from N(0, σ²), biases zero: how GPT and BERT begin."""
    for part in model.modules():
        if isinstance(part, nn.Linear | nn.Embedding):
            nn.init.normal_(part.weight, std=sigma)
        if isinstance(part, nn.Linear) and part.bias is not None:
            nn.init.zeros_(part.bias)
