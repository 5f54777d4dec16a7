"""GPT: a transformer that predicts the next token from the ones before it.

    x_t = e_{w_t} + p_t                                     embeddings of token and position
    x   ← x + A(N(x)),   x ← x + F(N(x))                    L causal pre-norm blocks
    p(w_{t+1} | w_1 … w_t) = softmax(E N(x_t))              E is the embedding matrix

φ is the GELU and F four times as wide as x. The output maps of A and F start 1/√(2L) smaller, so
that the sum of all of them does not grow with L. `GPT.gpt2` builds GPT-2 with its 124 million
parameters, and `chainrule.pretrained.load` reads the published ones. GPT-2 uses the tanh form of
the GELU, which takes twice as long on a CPU and differs by less than 0.0005.

Generation keeps keys and values in a cache, so that a new token costs one position instead of all.
Positions are absolute: once the context is full, the window moves on and is read again.

Radford et al. (2018, 2019). Notes: J 6.4 (the decoder), L "Transformer Impact".
"""

import math
from collections.abc import Sequence

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from chainrule.arguments import Count, Natural, NonNegative, Rate, Share, TwoOrMore, checked
from chainrule.errors import InputError
from chainrule.nn.activations import Activation
from chainrule.nn.attention import KVCache
from chainrule.nn.decoding import sample
from chainrule.nn.dropout import dropout as dropped
from chainrule.nn.kernels.token_decoder import TokenDecoder, fits
from chainrule.nn.positions import LearnedPositions
from chainrule.nn.profile import evaluating
from chainrule.nn.transformer_block import PreNormBlock, normal_initialization

KVCaches = tuple[KVCache, ...]
"""One cache per block."""


@checked
class GPT(nn.Module):
    """A causal transformer: tokens → logits of the next token at every position.

        x ← x + A(N(x)),   x ← x + F(N(x))                  L causal blocks
        p(w_{t+1} | w_1 … w_t) = softmax(E N(x_t))

    Args:
        vocab_size: Number of tokens in the vocabulary.
        context_length: Most tokens that the network sees at once.
        hidden_size: Size of the vector x_t of a token.
        num_layers: Number of blocks, L.
        num_heads: Number of attention heads, a divisor of `hidden_size`.
        dropout: Dropout probability of the embeddings and of A(·) and F(·).
        activation: φ of the feed-forward networks F.

    Example:
        >>> import torch
        >>> from chainrule.models.attention import GPT
        >>> model = GPT(vocab_size=65, context_length=16, hidden_size=32, num_layers=2, num_heads=4)
        >>> tokens = torch.randint(65, (3, 16))
        >>> model(tokens).shape
        torch.Size([3, 16, 65])
        >>> model.generate(tokens[0], max_new_tokens=20, temperature=0.8).shape
        torch.Size([20])
    """

    def __init__(
        self,
        vocab_size: TwoOrMore,
        context_length: Count,
        hidden_size: Count,
        num_layers: Count,
        num_heads: Count,
        dropout: Rate = 0.0,
        activation: Activation = F.gelu,
    ):
        super().__init__()
        self.context_length, self.dropout, self.activation = context_length, dropout, activation
        self.embedding = nn.Embedding(vocab_size, hidden_size)
        self.positions = LearnedPositions(context_length, hidden_size)
        self.blocks = nn.ModuleList(
            PreNormBlock(hidden_size, num_heads, 4 * hidden_size, activation, dropout)
            for _ in range(num_layers)
        )
        self.norm = nn.LayerNorm(hidden_size)
        normal_initialization(self)
        for name, p in self.named_parameters():
            if name.endswith(("attention.output.weight", "outer.weight")):
                nn.init.normal_(p, std=0.02 / math.sqrt(2 * num_layers))

    @staticmethod
    def gpt2(
        vocab_size: int = 50_257,
        context_length: int = 1024,
        hidden_size: int = 768,
        num_layers: int = 12,
        num_heads: int = 12,
        dropout: float = 0.1,
    ) -> "GPT":
        """GPT-2, by default the smallest of the four."""
        return GPT(
            vocab_size, context_length, hidden_size, num_layers, num_heads, dropout, tanh_gelu
        )

    def forward(self, tokens: Int[Tensor, "batch steps"]) -> Float[Tensor, "batch steps vocab"]:
        """Logits of the next token at every position; steps ≤ context_length."""
        x = self.embed(tokens)
        for block in self.blocks:
            x = block(x, causal=True)
        return self.logits(x)

    def decode_step(
        self, tokens: Int[Tensor, "batch steps"], kv_caches: KVCaches | None = None
    ) -> tuple[Float[Tensor, "batch steps vocab"], KVCaches]:
        """The logits for tokens that follow the cached ones, and the caches that include them."""
        x = self.embed(tokens, kv_caches[0].length if kv_caches else 0)
        updated = []
        for block, kv_cache in zip(
            self.blocks, kv_caches or [None] * len(self.blocks), strict=True
        ):
            x, kv_cache = block.decode_step(x, kv_cache)  # type: ignore[operator]
            updated.append(kv_cache)
        return self.logits(x), tuple(updated)

    def embed(self, tokens: Tensor, start: int = 0) -> Tensor:
        """e_{w_t} + p_t, from position `start` on."""
        x = self.embedding(tokens) + self.positions(tokens.shape[1], start)
        return dropped(x, self.dropout, self.training)

    def logits(self, x: Tensor) -> Tensor:
        """E N(x)."""
        return F.linear(self.norm(x), self.embedding.weight)

    @torch.no_grad()
    def generate(
        self,
        prompt: Int[Tensor, "*batch length"],
        max_new_tokens: Natural,
        temperature: NonNegative = 1.0,
        top_k: Natural = 0,
        generator: torch.Generator | None = None,
        top_p: Share = 1.0,
        suppress_tokens: Sequence[Natural] = (),
    ) -> Int[Tensor, "*batch max_new_tokens"]:
        """Tokens sampled one by one after the prompt, or after each of several of one length.

        Args:
            prompt: One token or more; of a long one the last `context_length` count.
            max_new_tokens: Number of tokens to sample.
            temperature: Divides the logits; 0 takes the likeliest token.
            top_k: Sample from the k likeliest tokens; 0 keeps all.
            generator: Source of the random numbers; the same state gives the same tokens.
            top_p: Sample from the smallest set of tokens with probability p; see `sample_token`.
            suppress_tokens: Tokens that are never sampled.
        """
        self.check_request(prompt, suppress_tokens)

        def step(
            token: Tensor, state: tuple[Tensor, "Writer | TokenDecoder"]
        ) -> tuple[Tensor, object]:
            window, writer = state
            window = torch.cat([window, token[:, None]], 1)[:, -self.context_length :]
            if writer.length == self.context_length:
                logits = self.decode_step(window)[0][:, -1]
            else:
                logits = writer.step(token)
            return without(logits, suppress_tokens), (window, writer)

        window = prompt.reshape(-1, prompt.shape[-1])[:, -self.context_length :]
        with evaluating(self):
            logits, kv_caches = self.decode_step(window)
            first = without(logits[:, -1], suppress_tokens)
            fast = type(self) is GPT and fits(self)
            state = window, (TokenDecoder if fast else Writer)(self, kv_caches)
            options = temperature, top_k, generator, top_p
            written = sample(step, first, state, max_new_tokens, *options)
        return written.view(*prompt.shape[:-1], max_new_tokens)

    def check_request(self, prompt: Tensor, suppress_tokens: Sequence[int]) -> None:
        vocab_size = len(self.embedding.weight)
        if not prompt.numel() or not 0 <= prompt.min() <= prompt.max() < vocab_size:
            raise InputError(
                f"prompt must hold at least one token, each from 0 to {vocab_size - 1}, got "
                f"{prompt.tolist() or 'none'}"
            )
        if len(set(suppress_tokens)) >= vocab_size:
            raise InputError(
                f"suppress_tokens must leave at least one of the {vocab_size} tokens, got all"
            )


class Writer:
    """Steps of one token by the blocks of any GPT; `TokenDecoder` is the fast one."""

    def __init__(self, model: GPT, kv_caches: KVCaches):
        self.model, self.kv_caches = model, kv_caches

    @property
    def length(self) -> int:
        return self.kv_caches[0].length

    def step(self, tokens: Int[Tensor, " batch"]) -> Float[Tensor, "batch vocab"]:
        """The logits after these tokens."""
        logits, self.kv_caches = self.model.decode_step(tokens[:, None], self.kv_caches)
        return logits[:, -1]


def without(logits: Tensor, tokens: Sequence[int]) -> Tensor:
    """The logits, -∞ for these tokens."""
    if tokens:
        logits[:, list(tokens)] = -torch.inf
    return logits


def tanh_gelu(z: Tensor) -> Tensor:
    """½ z (1 + tanh(√(2/π) (z + 0.044715 z³)))."""
    return F.gelu(z, approximate="tanh")


def example() -> tuple[GPT, Tensor]:
    """A vocabulary of seven tokens, two blocks of two heads, and five texts of six tokens."""
    model = GPT(7, context_length=8, hidden_size=8, num_layers=2, num_heads=2)
    return model, torch.randint(7, (5, 6))
