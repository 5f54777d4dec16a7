"""GPT: a transformer that sees the past only and guesses the next token.

    h_t = e_{x_t} + p_t                                     token and learned position
    h   ← h + A(N(h)),   h ← h + F(N(h))                    L causal blocks
    p(x_{t+1} | x_1 … x_t) = softmax(E N(h_t))              E is the matrix of the e_x again

φ is the GELU and F four times as wide as h; the last map of each sublayer starts 1/√(2L) smaller,
so that the sum of all of them does not grow with L. `GPT.gpt2` is the network of 124 million
weights, whose published ones `load_published` reads; it takes the tanh form of the GELU, which
costs twice the time on a CPU and differs by less than 0.0005.

Writing keeps keys and values of what was read, so a token costs one position, not all. Beyond the
context the window moves on: positions are absolute, so what is left of it is read anew.

Radford et al. (2018, 2019). Notes: J 6.4 (the decoder), L "Transformer Impact".
"""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from chainrule.errors import InputError
from chainrule.nn.activations import Activation
from chainrule.nn.attention import Memory
from chainrule.nn.decoding import sample
from chainrule.nn.dropout import dropout as dropped
from chainrule.nn.positions import LearnedPositions
from chainrule.nn.profile import evaluating
from chainrule.nn.transformer_block import Block, draw_weights
from chainrule.pretrained.loading import load_published as fit
from chainrule.pretrained.state_dict_rules import opened, untied, without

Memories = tuple[Memory, ...]
"""Keys and values of each block."""


class GPT(nn.Module):
    """Tokens → the logits of their next ones."""

    def __init__(
        self,
        symbols: int,
        context: int,
        width: int,
        depth: int,
        heads: int,
        dropout: float = 0.0,
        activation: Activation = F.gelu,
    ):
        super().__init__()
        if symbols < 2 or depth < 1:
            raise InputError(
                f"GPT needs two symbols and one block, got {symbols} symbols and {depth} blocks"
            )
        self.context, self.rate, self.activation = context, dropout, activation
        self.embedding = nn.Embedding(symbols, width)
        self.positions = LearnedPositions(context, width)
        self.blocks = nn.ModuleList(
            Block(width, heads, 4 * width, "pre", activation, dropout) for _ in range(depth)
        )
        self.norm = nn.LayerNorm(width)
        draw_weights(self)
        for name, p in self.named_parameters():
            if name.endswith(("attention.output.weight", "outer.weight")):
                nn.init.normal_(p, std=0.02 / math.sqrt(2 * depth))

    @staticmethod
    def gpt2(
        symbols: int = 50_257,
        context: int = 1024,
        width: int = 768,
        depth: int = 12,
        heads: int = 12,
        dropout: float = 0.1,
    ) -> "GPT":
        """GPT-2, the smallest of the four by default."""
        return GPT(symbols, context, width, depth, heads, dropout, tanh_gelu)

    def forward(self, tokens: Int[Tensor, "batch steps"]) -> Float[Tensor, "batch steps symbols"]:
        """Logits of every next token; steps up to the context."""
        h = self.embedded(tokens)
        for block in self.blocks:
            h = block(h, causal=True)
        return self.logits(h)

    def advance(
        self, tokens: Int[Tensor, "batch steps"], before: Memories | None = None
    ) -> tuple[Float[Tensor, "batch steps symbols"], Memories]:
        """The same for a later piece of the text, given what is remembered of the earlier ones."""
        h = self.embedded(tokens, before[0][0].shape[2] if before else 0)
        after = []
        for block, memory in zip(self.blocks, before or [None] * len(self.blocks), strict=True):
            h, remembered = block.advance(h, memory)  # type: ignore[operator]
            after.append(remembered)
        return self.logits(h), tuple(after)

    def embedded(self, tokens: Tensor, start: int = 0) -> Tensor:
        h = self.embedding(tokens) + self.positions(tokens.shape[1], start)
        return dropped(h, self.rate, self.training)

    def logits(self, h: Tensor) -> Tensor:
        return F.linear(self.norm(h), self.embedding.weight)

    @torch.no_grad()
    def write(
        self,
        prompt: Int[Tensor, " length"],
        number: int,
        temperature: float = 1.0,
        top_k: int = 0,
        generator: torch.Generator | None = None,
        top_p: float = 1.0,
        never: Sequence[int] = (),
    ) -> Int[Tensor, " number"]:
        """As many tokens after the prompt, drawn one by one; `never` are not written.

        temperature, top_k, top_p: see `draw`. The same generator state gives the same text.
        """
        symbols = len(self.embedding.weight)
        if not len(prompt) or not 0 <= prompt.min() <= prompt.max() < symbols:
            raise InputError(
                f"expected a prompt of one token or more, each from 0 to {symbols - 1}, got "
                f"{prompt.tolist() or 'none'}"
            )
        if number < 0 or len(set(never)) >= symbols:
            raise InputError(
                f"expected 0 or more tokens to write and one that may be, got {number} and "
                f"{len(set(never))} of {symbols} that may not"
            )

        def last(logits: Tensor) -> Tensor:
            logits[:, -1, list(never)] = -torch.inf
            return logits[:, -1]

        def step(token: Tensor, state: tuple[Tensor, Memories]) -> tuple[Tensor, object]:
            seen, before = state
            full = before[0][0].shape[2] == self.context
            seen = torch.cat([seen, token[:, None]], 1)[:, -self.context :]
            logits, after = self.advance(*((seen,) if full else (token[:, None], before)))
            return last(logits), (seen, after)

        seen = prompt[None, -self.context :]
        with evaluating(self):
            logits, memories = self.advance(seen)
            state = (seen, memories)
            first = last(logits)
            return sample(step, first, state, number, temperature, top_k, generator, top_p)[0]


def tanh_gelu(z: Tensor) -> Tensor:
    """½ z (1 + tanh(√(2/π) (z + 0.044715 z³)))."""
    return F.gelu(z, approximate="tanh")


RULES = (
    (r"transformer\.", ""),
    (r"wte\.", "embedding."),
    (r"wpe\.", "positions."),
    (r"ln_f\.", "norm."),
    (r"h\.(\d+)\.ln_([12])\.", r"blocks.\1.norm_\2."),
    (r"h\.(\d+)\.attn\.c_attn\.", r"blocks.\1.attention.projection."),
    (r"h\.(\d+)\.attn\.c_proj\.", r"blocks.\1.attention.output."),
    (r"h\.(\d+)\.mlp\.c_fc\.", r"blocks.\1.feed_forward.inner."),
    (r"h\.(\d+)\.mlp\.c_proj\.", r"blocks.\1.feed_forward.outer."),
)


def load_published(model: GPT, weights: str | Path | Mapping[str, Tensor]) -> None:
    """GPT-2's weights under their public names, from a safetensors file or a state dict."""
    if model.activation is not tanh_gelu:
        raise InputError("GPT-2 was trained with the tanh form of the GELU; make it by GPT.gpt2")
    state = untied(opened(weights, RULES), "lm_head.weight", "embedding.weight")
    state = without(state, r"h\.\d+\.attn\.(masked_)?bias")  # their causal masks
    fit(model, turned(state))


def turned(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """GPT-2 keeps its maps as (inputs, outputs)."""
    return {
        name: t.T if name.startswith("blocks.") and t.ndim == 2 else t for name, t in state.items()
    }


def example() -> tuple[GPT, Tensor]:
    """Seven symbols, two blocks of two heads, and five texts of six symbols."""
    return GPT(7, context=8, width=8, depth=2, heads=2), torch.randint(7, (5, 6))
