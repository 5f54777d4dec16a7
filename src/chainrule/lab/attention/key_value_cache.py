"""Claim: decoding with a key-value cache gives the same logits as without it (J 6.4, L 8).

    y_t sees k_s, v_s of s ≤ t only   ⇒   k_s, v_s never change: f(x_1 … x_t) from x_t and cache

Measured: the largest difference between GPT's logits for a whole text and for the same text read in
chunks, token by token and in random lengths, in double precision.
Bound: 1e-12, sums in another order.
The picture counts the cost of one more token: n positions without the cache, one with it. Radford
et al. (2018, 2019).
"""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.lab.helpers.multiply_adds import multiply_adds
from chainrule.models.attention.gpt import GPT, KVCaches
from chainrule.nn.attention import KVCache

ROUNDING = 1e-12
SYMBOLS, DEPTH = 20, 2
AGAIN, REMEMBERED = "all read again", "keys and values remembered"


def check(length: int = 64, hidden_size: int = 32, seed: int = 0) -> Verdict:
    """The whole past is cached.

    Args:
        length: Tokens of the text.
        hidden_size: Hidden size of the GPT.
    """
    return verdict(length, hidden_size, seed, lambda memories: memories)


def broken() -> Verdict:
    """The oldest token is dropped from the cache."""

    def forgetful(memories: KVCaches) -> KVCaches:
        return tuple(KVCache(k[:, :, 1:], v[:, :, 1:]) for k, v in memories)

    return verdict(64, 32, 0, forgetful)


def near() -> Near:
    """Cached values that change a little."""

    def scaled(factor: float) -> Verdict:
        return verdict(
            16, 32, 0, lambda memories: tuple(KVCache(k, factor * v) for k, v in memories)
        )

    return {
        **ten_percent("cached values", scaled),
        "cached values × 1.000001": partial(scaled, 1 + 1e-6),
    }


@torch.no_grad()
def verdict(length: int, width: int, seed: int, kept: Callable[[KVCaches], KVCaches]) -> Verdict:
    """Whole texts against chunks."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = GPT(SYMBOLS, length, width, DEPTH, num_heads=4).double()
        for parameter in model.parameters():
            if parameter.ndim == 2:
                parameter.normal_(std=parameter.shape[1] ** -0.5)
        tokens = torch.randint(SYMBOLS, (2, length))
        cuts = torch.randperm(length - 1)[: length // 8].add(1).sort().values.tolist()
    whole = model(tokens)
    worst = max(
        (in_pieces(model, tokens, ends, kept) - whole).abs().max().item()
        for ends in (list(range(1, length)), cuts)
    )
    places = [2**k for k in range(length.bit_length()) if 2**k <= length]
    costs: dict[str, list[int]] = {AGAIN: [], REMEMBERED: []}
    for place in places:
        text = tokens[:1, :place]
        before = model.decode_step(text[:, :-1])[1] if place > 1 else None
        costs[AGAIN].append(multiply_adds(model, text))
        step = partial(model.decode_step, kv_caches=before)
        costs[REMEMBERED].append(multiply_adds(step, text[:, -1:]))
    x = [float(place) for place in places]
    return Verdict(
        quantity="largest |cached - uncached| logit",
        measured=worst,
        relation="≤",
        bound=ROUNDING,
        picture=Picture(
            title="With cached keys and values, one more token costs one position",
            x_label="tokens so far",
            y_label="multiply-adds for the next token",
            curves={
                AGAIN: (x, [n * position(n, width) for n in x]),
                REMEMBERED: (x, [position(n, width) for n in x]),
            },
            points={name: (x, list(map(float, cost))) for name, cost in costs.items()},
            log="xy",
        ),
        details={f"saving factor at token {places[-1]}": costs[AGAIN][-1] / costs[REMEMBERED][-1]},
    )


def position(n: float, d: int) -> float:
    """Multiply-adds of one position that sees n: projections, attention and the logits E h."""
    return DEPTH * (12 * d**2 + 2 * n * d) + SYMBOLS * d


def in_pieces(
    model: GPT, tokens: Tensor, ends: list[int], kept: Callable[[KVCaches], KVCaches]
) -> Tensor:
    """Logits of the text cut before these positions."""
    memories, logits = None, []
    for piece in tokens.tensor_split(ends, 1):
        found, memories = model.decode_step(piece, None if memories is None else kept(memories))
        logits.append(found)
    return torch.cat(logits, 1)
