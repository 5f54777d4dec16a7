"""Writing sequences with a model that gives the next token: sampling, greedy and beam search.

    p(y_1 … y_n) = Π_t p(y_t | y_1 … y_{t-1})

`step(tokens, state)` takes the last token of each row and gives the logits (sampling) or the
log-probabilities (search) of the next, with the state that goes with it: nested tuples of tensors,
batch first. A recurrent network's state, or the keys and values of attention.

Graves (2012), Sequence transduction; length normalization: Wu et al. (2016), arXiv 1609.08144;
top-p: Holtzman et al. (2020), ICLR.
Notes: J 5.3.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from chainrule.errors import InputError

COLD, HOT = 1e-6, 1e30  # below, the likeliest is taken; above, floats end

State = Any
Step = Callable[[Tensor, State], tuple[Tensor, State]]


class Ends(NamedTuple):
    """Where sequences begin and end: two tokens, and the most to write, `end` among them."""

    begin: int
    end: int
    longest: int


def sample(
    step: Step,
    logits: Float[Tensor, "batch symbols"],
    state: State,
    number: int,
    temperature: float = 1.0,
    top_k: int = 0,
    generator: torch.Generator | None = None,
    top_p: float = 1.0,
) -> Int[Tensor, "batch number"]:
    """y_t ~ softmax(logits / temperature), one `draw` after another."""
    written: list[Tensor] = []
    for _ in range(number):
        if written:
            logits, state = step(written[-1], state)
        written.append(draw(logits, temperature, top_k, generator, top_p))
    return torch.stack(written, 1) if written else logits.new_zeros((len(logits), 0)).long()


def draw(
    logits: Float[Tensor, "batch symbols"],
    temperature: float = 1.0,
    top_k: int = 0,
    generator: torch.Generator | None = None,
    top_p: float = 1.0,
) -> Int[Tensor, " batch"]:
    """One token per row; temperature 0 takes the likeliest.

    top_k: among so many likeliest (0: all); top_p: of these the fewest that hold this share of the
    probability.
    """
    if not 0 <= temperature <= HOT or top_k < 0 or not 0 < top_p <= 1:
        raise InputError(
            f"expected a temperature and a top-k of 0 or more and a top-p above 0 up to 1, got "
            f"{temperature:g}, {top_k} and {top_p:g}"
        )
    if temperature < COLD:
        return logits.argmax(-1)
    if top_p < 1:
        logits = nucleus(logits, temperature, top_k, top_p)
    elif 0 < top_k < logits.shape[-1]:
        likeliest, which = logits.topk(top_k)
        logits = torch.full_like(logits, -torch.inf).scatter(1, which, likeliest)
    return torch.multinomial((logits / temperature).softmax(-1), 1, generator=generator)[:, 0]


def nucleus(
    logits: Float[Tensor, "batch symbols"], temperature: float, top_k: int, top_p: float
) -> Float[Tensor, "batch symbols"]:
    """-∞ but for the fewest likeliest of the top k whose probabilities sum to top_p or more."""
    ranked, order = (logits / temperature).sort(dim=-1, descending=True, stable=True)
    kept = top_k or logits.shape[-1]
    ranked[:, kept:] = -torch.inf
    p = ranked.softmax(-1)
    enough = p.cumsum(-1) - p >= top_p  # those before it are already enough
    enough[:, kept:] = True
    return logits.masked_fill(torch.zeros_like(enough).scatter(1, order, enough), -torch.inf)


@torch.no_grad()
def greedy(
    step: Step, state: State, batch: int, ends: Ends, device: torch.device | None = None
) -> Int[Tensor, "batch length"]:
    """The likeliest token each time, until every row has ended; `end` fills up what is behind."""
    token = torch.full((batch,), ends.begin, device=device)
    done = torch.zeros(batch, dtype=torch.bool, device=device)
    written: list[Tensor] = []
    while len(written) < ends.longest and not done.all():
        log_p, state = step(token, state)
        token = log_p.argmax(-1).masked_fill(done, ends.end)
        done = done | (token == ends.end)
        written.append(token)
    return torch.stack(written, 1) if written else token.new_empty(batch, 0)


@torch.no_grad()
def beam_search(
    step: Step,
    state: State,
    batch: int,
    ends: Ends,
    width: int,
    normalization: float = 1.0,
    device: torch.device | None = None,
) -> Int[Tensor, "batch length"]:
    """The likeliest sequences found when the `width` best beginnings are kept at every length.

    A sequence of n tokens counts log p / n^normalization. Those that end leave the beam; a row is
    done when `width` have ended. With a width of 1 this is `greedy`.
    """
    if width < 1:
        raise InputError(f"expected a beam of one or more sequences, got {width}")
    row = torch.arange(batch, device=device)[:, None]
    state = picked(state, row[:, 0].repeat_interleave(width))
    tokens = torch.full((batch, width, 1), ends.begin, device=device)
    scores = torch.full((batch, width), -torch.inf, device=device)
    scores[:, 0] = 0.0  # all beginnings are the same: one of them counts
    finished = Finished.none(batch, ends, device)
    for length in range(1, ends.longest + 1):
        log_p, state = step(tokens[:, :, -1].flatten(), state)
        symbols = log_p.shape[-1]
        every = (scores[:, :, None] + log_p.float().view(batch, width, symbols)).flatten(1)
        # Of the 2 · width best at most width end here, so that width remain to go on.
        top, place = every.topk(min(2 * width, every.shape[1]))
        origin, token = place // symbols, place % symbols
        longer = torch.cat([tokens[row, origin], token[:, :, None]], 2)
        ended = token == ends.end
        complete = ended | torch.tensor(length == ends.longest, device=device)
        finished.offer(top[:, :width], longer[:, :width, 1:], complete[:, :width], normalization)
        if finished.number.ge(width).all():
            break
        scores, order = top.masked_fill(ended, -torch.inf).topk(width)
        tokens = longer[row, order]
        state = picked(state, (origin.gather(1, order) + row * width).flatten())
    written = (finished.tokens != ends.end).sum(1).max()
    return finished.tokens[:, : int(written) + 1]


class Finished(NamedTuple):
    """The best ended sequence of each row, what it counts, and how many have ended."""

    tokens: Int[Tensor, "batch longest"]
    value: Float[Tensor, " batch"]
    number: Int[Tensor, " batch"]

    @classmethod
    def none(cls, batch: int, ends: Ends, device: torch.device | None) -> "Finished":
        return cls(
            torch.full((batch, ends.longest), ends.end, device=device),
            torch.full((batch,), -torch.inf, device=device),
            torch.zeros(batch, dtype=torch.long, device=device),
        )

    def offer(
        self, scores: Tensor, sequences: Tensor, complete: Tensor, normalization: float
    ) -> None:
        """Take the best of the complete sequences where it beats what is there.

        scores, complete: (batch, width); sequences: (batch, width, length). A row in which `width`
        sequences have ended takes no more.
        """
        width, length = sequences.shape[1:]
        complete = complete & (self.number < width)[:, None] & scores.isfinite()
        counts = scores.masked_fill(~complete, -torch.inf) / length**normalization
        value, which = counts.max(1)
        better = (value > self.value).nonzero()[:, 0]
        self.value[better] = value[better]
        self.tokens[better, :length] = sequences[better, which[better]]
        self.number.add_(complete.sum(1))


def picked(state: State, rows: Int[Tensor, " n"]) -> State:
    """These rows of every tensor of the state."""
    if isinstance(state, Tensor):
        return state.index_select(0, rows)
    return tuple(picked(part, rows) for part in state)
