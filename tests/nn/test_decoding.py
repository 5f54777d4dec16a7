"""Decoding: samples follow the distribution, beams find the best sequences."""

import itertools

import pytest
import torch
from torch import Tensor

from chainrule.errors import InputError
from chainrule.nn.decoding import (
    DecodingConfig,
    beam_search,
    greedy,
    nucleus,
    sample,
    sample_token,
    token_probabilities,
)

VOCAB_SIZE, BEGIN, END, MAX_LENGTH = 4, 2, 3, 4
CONFIG = DecodingConfig(BEGIN, END, MAX_LENGTH)
State = tuple[Tensor, tuple[Tensor]]


def chain(batch: int, seed: int) -> tuple[object, State]:
    """p(next | last two tokens, a vector of the row's own); the state is nested on purpose."""
    generator = torch.Generator().manual_seed(seed)
    table = 2 * torch.randn(VOCAB_SIZE, VOCAB_SIZE, VOCAB_SIZE, generator=generator)
    own = torch.randn(batch, VOCAB_SIZE, generator=generator)

    def step(tokens: Tensor, state: State) -> tuple[Tensor, State]:
        before, (row,) = state
        return (table[before, tokens] + row).log_softmax(-1), (tokens, (row,))

    return step, (torch.zeros(batch, dtype=torch.long), (own,))


def every_sequence() -> list[tuple[int, ...]]:
    """All that end, and all of full length that do not."""
    inside = [token for token in range(VOCAB_SIZE) if token != END]
    ended = [(*s, END) for n in range(MAX_LENGTH) for s in itertools.product(inside, repeat=n)]
    return ended + list(itertools.product(inside, repeat=MAX_LENGTH))


def log_p(step, state: State, row: int, sequence: tuple[int, ...]) -> float:
    before, (own,) = state
    one, token, total = (before[row : row + 1], (own[row : row + 1],)), BEGIN, 0.0
    for wanted in sequence:
        found, one = step(torch.tensor([token]), one)
        total, token = total + found[0, wanted].item(), wanted
    return total


def trimmed(tokens: Tensor) -> tuple[int, ...]:
    found = tokens.tolist()
    return tuple(found[: found.index(END) + 1]) if END in found else tuple(found)


@pytest.mark.parametrize("seed", range(5))
def test_a_beam_of_one_is_greedy(seed: int) -> None:
    step, state = chain(7, seed)
    ours = beam_search(step, state, 7, CONFIG, beam_size=1)
    theirs = greedy(step, state, 7, CONFIG)
    assert [trimmed(row) for row in ours] == [trimmed(row) for row in theirs]


@pytest.mark.parametrize("length_penalty", [0.0, 1.0])
@pytest.mark.parametrize("seed", range(3))
def test_a_wide_beam_finds_the_best_of_all_sequences(seed: int, length_penalty: float) -> None:
    step, state = chain(3, seed)
    found = beam_search(step, state, 3, CONFIG, 150, length_penalty)
    for row in range(3):
        values = {
            s: log_p(step, state, row, s) / len(s) ** length_penalty for s in every_sequence()
        }
        best = max(values, key=values.__getitem__)
        assert values[trimmed(found[row])] == pytest.approx(values[best], abs=1e-5)


def test_a_beam_is_better_than_greedy_where_the_first_step_misleads() -> None:
    def step(tokens: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        p = torch.tensor([[0.5, 0.5, 1e-9, 1e-9]] * len(tokens))
        p[tokens == BEGIN] = torch.tensor([0.55, 0.45, 1e-9, 1e-9])
        p[(tokens == 0) & (state == 1)] = torch.tensor([0.3, 0.3, 1e-9, 0.4])
        p[tokens == 1] = torch.tensor([1e-9, 1e-9, 1e-9, 1.0])
        return p.log(), state + 1

    state = torch.zeros(1)
    assert trimmed(greedy(step, state, 1, CONFIG)[0]) == (0, END)
    assert trimmed(beam_search(step, state, 1, CONFIG, 2)[0]) == (1, END)


@pytest.mark.parametrize("beam_size", [1, 3])
def test_rows_do_not_affect_each_other(beam_size: int) -> None:
    step, (before, (own,)) = chain(6, 1)
    together = beam_search(step, (before, (own,)), 6, CONFIG, beam_size)
    for row in range(6):
        alone = (before[row : row + 1], (own[row : row + 1],))
        found = beam_search(step, alone, 1, CONFIG, beam_size)
        assert trimmed(found[0]) == trimmed(together[row])


def test_samples_follow_the_probabilities_and_the_temperature() -> None:
    logits = torch.tensor([0.5, 0.3, 0.2, 0.0]).clamp(min=1e-30).log().expand(20_000, -1)
    for temperature in (0.5, 1.0, 2.0):
        generator = torch.Generator().manual_seed(0)
        share = sample_token(logits, temperature, 0, generator).bincount(minlength=4) / len(logits)
        expected = (logits[0] / temperature).softmax(-1)
        torch.testing.assert_close(share, expected, atol=0.015, rtol=0)
    assert sample_token(logits, 0.0).eq(0).all()
    assert sample_token(logits, 5.0, top_k=2).max() == 1


def test_samples_stay_in_the_nucleus() -> None:
    logits = torch.tensor([0.5, 0.3, 0.2]).log().expand(5_000, -1)
    generator = torch.Generator().manual_seed(0)
    share = sample_token(logits, 1.0, 0, generator, top_p=0.7).bincount(minlength=3) / len(logits)
    torch.testing.assert_close(share, torch.tensor([0.625, 0.375, 0.0]), atol=0.02, rtol=0)


def test_neither_rounding_nor_ties_keep_more_than_k() -> None:
    torch.manual_seed(0)
    logits = torch.randn(500, 300)
    kept = nucleus(logits, 1.0, 50, 1 - 1e-8).isfinite().sum(1)
    assert kept.max() <= 50
    assert len(sample_token(torch.zeros(200, 5), top_k=2).unique()) == 2


@pytest.mark.parametrize("temperature", [1e-40, 1e-5, 1e30])
def test_extreme_temperatures(temperature: float) -> None:
    logits = torch.tensor([[3.0, 1.0, -torch.inf]]).expand(400, -1)
    for top_k, top_p in ((0, 1.0), (2, 1.0), (0, 0.9)):
        found = sample_token(logits, temperature, top_k, top_p=top_p).unique().tolist()
        assert found == ([0] if temperature < 1 else [0, 1])


def test_no_step_is_computed_in_vain() -> None:
    step, state = chain(1, 0)
    asked = []

    def counted(tokens: Tensor, before: State) -> tuple[Tensor, State]:
        asked.append(tokens)
        return step(tokens, before)

    first, after = step(torch.tensor([BEGIN]), state)
    for number in (0, 1, 5):
        asked.clear()
        assert sample(counted, first, after, number).shape == (1, number)
        assert len(asked) == max(0, number - 1)
    assert greedy(step, state, 1, DecodingConfig(BEGIN, END, 0)).shape == (1, 0)


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_beams_take_log_probabilities_of_any_precision(dtype: torch.dtype) -> None:
    step, state = chain(3, 0)

    def other(tokens: Tensor, before: State) -> tuple[Tensor, State]:
        log_p, after = step(tokens, before)
        return log_p.to(dtype), after

    rounded, exact = (beam_search(each, state, 3, CONFIG, 2) for each in (other, step))
    for row, (one, best) in enumerate(zip(rounded, exact, strict=True)):
        worth = [log_p(step, state, row, s) / len(s) for s in (trimmed(one), trimmed(best))]
        assert worth[0] == pytest.approx(worth[1], abs=20 * torch.finfo(dtype).eps)


def test_the_seed_decides_the_samples_and_each_step_gets_the_last_one() -> None:
    step, state = chain(2, 0)
    first, after = step(torch.full((2,), BEGIN), state)
    one, two, other = (
        sample(step, first, after, 30, 1.0, 0, torch.Generator().manual_seed(seed))
        for seed in (0, 0, 1)
    )
    assert torch.equal(one, two) and not torch.equal(one, other)
    likeliest = sample(step, first, after, MAX_LENGTH, temperature=0.0)
    assert trimmed(likeliest[0]) == trimmed(greedy(step, state, 2, CONFIG)[0])


def test_bad_arguments_are_rejected() -> None:
    step, state = chain(1, 0)
    with pytest.raises(InputError, match="beam_size must be at least 1, got 0"):
        beam_search(step, state, 1, CONFIG, 0)
    with pytest.raises(InputError, match="got temperature -1, top_k 0 and top_p 1"):
        sample_token(torch.zeros(1, 3), -1.0)
    with pytest.raises(InputError, match="got temperature inf, top_k 0 and top_p 1"):
        sample_token(torch.zeros(1, 3), float("inf"))
    with pytest.raises(InputError, match="top_k must be at least 0"):
        sample_token(torch.zeros(1, 3), 1.0, -2)
    for top_p in (0.0, 1.1, float("nan")):
        with pytest.raises(InputError, match="top_p above 0 and at most 1"):
            sample_token(torch.zeros(1, 3), top_p=top_p)


@pytest.mark.parametrize("top_k", [0, 2])
@pytest.mark.parametrize("top_p", [0.7, 1.0])
def test_the_probabilities_shown_are_those_of_the_samples(top_k: int, top_p: float) -> None:
    logits = torch.tensor([[2.0, 1.0, 0.5, -1.0]])
    p = token_probabilities(logits, 0.8, top_k, top_p)[0]
    generator = torch.Generator().manual_seed(0)
    drawn = sample_token(logits.expand(20_000, -1), 0.8, top_k, generator, top_p)
    torch.testing.assert_close(drawn.bincount(minlength=4) / 20_000, p, atol=0.02, rtol=0)
    assert token_probabilities(logits, 0.0)[0].tolist() == [1, 0, 0, 0]
