"""GPT as nanoGPT writes it."""

from typing import NamedTuple

import torch.nn.functional as F
from torch import Tensor, nn


class Sizes(NamedTuple):
    """Of a network and its batches."""

    vocab: int
    context: int
    width: int
    depth: int
    heads: int
    batch: int
    steps: int
    """In a unit."""
    learned: int
    """Steps after which quality is compared."""


class NanoBlock(nn.Module):
    """A block as nanoGPT writes it."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.c_attn, self.c_proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, x: Tensor) -> Tensor:
        B, T, C = x.size()
        q, k, v = self.c_attn(self.ln_1(x)).split(C, dim=2)
        q, k, v = (t.view(B, T, self.heads, C // self.heads).transpose(1, 2) for t in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.c_proj(y.transpose(1, 2).contiguous().view(B, T, C))
        return x + self.mlp(self.ln_2(x))


class NanoGPT(nn.Module):
    """The network as nanoGPT writes it, with biases, as GPT-2."""

    def __init__(self, sizes: Sizes):
        super().__init__()
        self.wte = nn.Embedding(sizes.vocab, sizes.width)
        self.wpe = nn.Embedding(sizes.context, sizes.width)
        self.h = nn.ModuleList(NanoBlock(sizes.width, sizes.heads) for _ in range(sizes.depth))
        self.ln_f = nn.LayerNorm(sizes.width)
        for part in self.modules():
            if isinstance(part, nn.Linear | nn.Embedding):
                nn.init.normal_(part.weight, std=0.02)
            if isinstance(part, nn.Linear):
                nn.init.zeros_(part.bias)
        for name, p in self.named_parameters():
            if name.endswith(("c_proj.weight", "mlp.2.weight")):
                nn.init.normal_(p, std=0.02 / (2 * sizes.depth) ** 0.5)

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.wte(tokens) + self.wpe.weight[: tokens.size(1)]
        for block in self.h:
            x = block(x)
        return F.linear(self.ln_f(x), self.wte.weight)
