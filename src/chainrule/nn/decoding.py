"""Decoding with a model of the next token: sampling, greedy decoding and beam search.

    p(y_1 … y_n) = Π_t p(y_t | y_1 … y_{t-1})

`decode_step(tokens, state)` takes the last token of each row and returns the logits (sampling) or
the log-probabilities (search) of the next one, and the new state: nested tuples of tensors, batch
first, such as the state of a recurrent network or the KV cache of a transformer.

Graves (2012), Sequence transduction; length penalty: Wu et al. (2016), arXiv 1609.08144;
top-p: Holtzman et al. (2020), ICLR.
Notes: J 5.3.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from chainrule.errors import InputError

MIN_TEMPERATURE = 1e-6  # below, the likeliest token is taken
MAX_TEMPERATURE = 1e30  # above, floats overflow

State = Any
DecodeStep = Callable[[Tensor, State], tuple[Tensor, State]]


class DecodingConfig(NamedTuple):
    """The tokens that begin and end a sequence, and its largest number of tokens.

    Args:
        bos_token: Token before the first one.
        eos_token: Token that ends a sequence.
        max_length: Most tokens of a sequence, `eos_token` included.
    """

    bos_token: int
    eos_token: int
    max_length: int


def sample(
    decode_step: DecodeStep,
    logits: Float[Tensor, "batch vocab"],
    state: State,
    max_new_tokens: int,
    temperature: float = 1.0,
    top_k: int = 0,
    generator: torch.Generator | None = None,
    top_p: float = 1.0,
) -> Int[Tensor, "batch max_new_tokens"]:
    """y_t ~ softmax(logits / temperature), one `sample_token` after another."""
    tokens: list[Tensor] = []
    for _ in range(max_new_tokens):
        if tokens:
            logits, state = decode_step(tokens[-1], state)
        tokens.append(sample_token(logits, temperature, top_k, generator, top_p))
    return torch.stack(tokens, 1) if tokens else logits.new_zeros((len(logits), 0)).long()


def sample_token(
    logits: Float[Tensor, "batch vocab"],
    temperature: float = 1.0,
    top_k: int = 0,
    generator: torch.Generator | None = None,
    top_p: float = 1.0,
) -> Int[Tensor, " batch"]:
    """One token per row.

    Args:
        logits: Of every token of the vocabulary.
        temperature: Divides the logits; 0 takes the likeliest token.
        top_k: Sample from the k likeliest tokens; 0 keeps all.
        generator: Source of the random numbers.
        top_p: Of the top k, sample from the smallest set whose probabilities sum to at least p.
    """
    check_sampling(temperature, top_k, top_p)
    if temperature < MIN_TEMPERATURE:
        return logits.argmax(-1)
    p = token_probabilities(logits, temperature, top_k, top_p)
    return torch.multinomial(p, 1, generator=generator)[:, 0]


def token_probabilities(
    logits: Float[Tensor, "batch vocab"],
    temperature: float = 1.0,
    top_k: int = 0,
    top_p: float = 1.0,
) -> Float[Tensor, "batch vocab"]:
    """The probabilities by which `sample_token` draws; tokens that are cut off have 0."""
    check_sampling(temperature, top_k, top_p)
    if temperature < MIN_TEMPERATURE:
        return torch.zeros_like(logits).scatter(-1, logits.argmax(-1, keepdim=True), 1.0)
    if top_p < 1:
        logits = nucleus(logits, temperature, top_k, top_p)
    elif 0 < top_k < logits.shape[-1]:
        likeliest, tokens = logits.topk(top_k)
        logits = torch.full_like(logits, -torch.inf).scatter(1, tokens, likeliest)
    return (logits / temperature).softmax(-1)


def check_sampling(temperature: float, top_k: int, top_p: float) -> None:
    """Refuse options out of range."""
    if not 0 <= temperature <= MAX_TEMPERATURE or top_k < 0 or not 0 < top_p <= 1:
        raise InputError(
            "temperature and top_k must be at least 0, top_p above 0 and at most 1, got "
            f"temperature {temperature:g}, top_k {top_k} and top_p {top_p:g}"
        )


def nucleus(
    logits: Float[Tensor, "batch vocab"], temperature: float, top_k: int, top_p: float
) -> Float[Tensor, "batch vocab"]:
    """The logits, -∞ outside the smallest set of the top k whose probabilities sum to top_p."""
    ranked, order = (logits / temperature).sort(dim=-1, descending=True, stable=True)
    kept = top_k or logits.shape[-1]
    ranked[:, kept:] = -torch.inf
    p = ranked.softmax(-1)
    dropped = p.cumsum(-1) - p >= top_p  # the likelier ones already suffice
    dropped[:, kept:] = True
    return logits.masked_fill(torch.zeros_like(dropped).scatter(1, order, dropped), -torch.inf)


@torch.no_grad()
def greedy(
    decode_step: DecodeStep,
    state: State,
    batch: int,
    config: DecodingConfig,
    device: torch.device | None = None,
) -> Int[Tensor, "batch length"]:
    """The likeliest token in each step until every row has ended, padded with `eos_token`."""
    token = torch.full((batch,), config.bos_token, device=device)
    ended = torch.zeros(batch, dtype=torch.bool, device=device)
    tokens: list[Tensor] = []
    while len(tokens) < config.max_length and not ended.all():
        log_p, state = decode_step(token, state)
        token = log_p.argmax(-1).masked_fill(ended, config.eos_token)
        ended = ended | (token == config.eos_token)
        tokens.append(token)
    return torch.stack(tokens, 1) if tokens else token.new_empty(batch, 0)


@torch.no_grad()
def beam_search(
    decode_step: DecodeStep,
    state: State,
    batch: int,
    config: DecodingConfig,
    beam_size: int,
    length_penalty: float = 1.0,
    device: torch.device | None = None,
) -> Int[Tensor, "batch length"]:
    """The best sequence of each row when the `beam_size` best prefixes of every length are kept.

    The score of n tokens is log p / n^length_penalty. A sequence that ends leaves the beam; a row
    is done when `beam_size` sequences have ended. With a beam of 1 this is `greedy`.
    """
    if beam_size < 1:
        raise InputError(f"beam_size must be at least 1, got {beam_size}")
    row = torch.arange(batch, device=device)[:, None]
    state = select_rows(state, row[:, 0].repeat_interleave(beam_size))
    tokens = torch.full((batch, beam_size, 1), config.bos_token, device=device)
    scores = torch.full((batch, beam_size), -torch.inf, device=device)
    scores[:, 0] = 0.0  # all prefixes are the same in the beginning: only one counts
    finished = Finished.none(batch, config, device)
    for length in range(1, config.max_length + 1):
        log_p, state = decode_step(tokens[:, :, -1].flatten(), state)
        vocab_size = log_p.shape[-1]
        extended = (scores[:, :, None] + log_p.float().view(batch, beam_size, -1)).flatten(1)
        # At most beam_size of the 2 · beam_size best end here, so beam_size go on.
        top, index = extended.topk(min(2 * beam_size, extended.shape[1]))
        origin, token = index // vocab_size, index % vocab_size
        longer = torch.cat([tokens[row, origin], token[:, :, None]], 2)
        ended = token == config.eos_token
        complete = ended | torch.tensor(length == config.max_length, device=device)
        best = slice(beam_size)
        finished.offer(top[:, best], longer[:, best, 1:], complete[:, best], length_penalty)
        if finished.number.ge(beam_size).all():
            break
        scores, order = top.masked_fill(ended, -torch.inf).topk(beam_size)
        tokens = longer[row, order]
        state = select_rows(state, (origin.gather(1, order) + row * beam_size).flatten())
    longest = (finished.tokens != config.eos_token).sum(1).max()
    return finished.tokens[:, : int(longest) + 1]


class Finished(NamedTuple):
    """The best ended sequence of each row, its score, and how many have ended."""

    tokens: Int[Tensor, "batch max_length"]
    score: Float[Tensor, " batch"]
    number: Int[Tensor, " batch"]

    @classmethod
    def none(cls, batch: int, config: DecodingConfig, device: torch.device | None) -> "Finished":
        return cls(
            torch.full((batch, config.max_length), config.eos_token, device=device),
            torch.full((batch,), -torch.inf, device=device),
            torch.zeros(batch, dtype=torch.long, device=device),
        )

    def offer(
        self, log_p: Tensor, sequences: Tensor, complete: Tensor, length_penalty: float
    ) -> None:
        """Keep the best complete sequence of each row where it beats the present one.

        log_p, complete: (batch, beam_size); sequences: (batch, beam_size, length). A row in which
        `beam_size` sequences have ended takes no more.
        """
        beam_size, length = sequences.shape[1:]
        complete = complete & (self.number < beam_size)[:, None] & log_p.isfinite()
        scores = log_p.masked_fill(~complete, -torch.inf) / length**length_penalty
        score, which = scores.max(1)
        better = (score > self.score).nonzero()[:, 0]
        self.score[better] = score[better]
        self.tokens[better, :length] = sequences[better, which[better]]
        self.number.add_(complete.sum(1))


def select_rows(state: State, rows: Int[Tensor, " n"]) -> State:
    """These rows of every tensor of the state."""
    if isinstance(state, Tensor):
        return state.index_select(0, rows)
    parts = [select_rows(part, rows) for part in state]
    return type(state)(*parts) if hasattr(state, "_fields") else tuple(parts)
