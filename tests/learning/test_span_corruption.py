"""Span corruption: nothing is lost, sizes are fixed, divisions are equally likely."""

from collections import Counter

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from chainrule.errors import InputError
from chainrule.learning.span_corruption import SpanScheme, corrupt_spans, random_lengths

END, FIRST = 1, 50
SCHEME = SpanScheme(first_sentinel=FIRST, end=END)


def restored(inputs: list[int], targets: list[int]) -> list[int]:
    """The text: every sentinel of the input replaced by its span."""
    spans: dict[int, list[int]] = {}
    for token in targets[:-1]:
        if token >= FIRST:
            spans[token] = []
            last = spans[token]
        else:
            last.append(token)
    return [t for token in inputs[:-1] for t in (spans[token] if token >= FIRST else [token])]


@given(st.integers(2, 60), st.floats(0.01, 0.99), st.floats(1, 10), st.integers(0, 1000))
def test_input_and_target_together_are_the_text(
    steps: int, hidden: float, span: float, seed: int
) -> None:
    scheme = SpanScheme(FIRST, END, hidden, span)
    tokens = torch.randint(2, FIRST, (4, steps), generator=torch.Generator().manual_seed(seed))
    inputs, targets = corrupt_spans(tokens, scheme, torch.Generator().manual_seed(seed))
    cut, spans = scheme.counts(steps)
    assert inputs.shape == (4, steps - cut + spans + 1) and targets.shape == (4, cut + spans + 1)
    for row, text in enumerate(tokens.tolist()):
        shown, written = inputs[row].tolist(), targets[row].tolist()
        assert shown[-1] == written[-1] == END
        sentinels = list(range(FIRST, FIRST + spans))
        assert [t for t in shown if t >= FIRST] == [t for t in written if t >= FIRST] == sentinels
        assert restored(shown, written) == text


def test_fifteen_percent_are_hidden_in_spans_of_three_on_average() -> None:
    assert SCHEME.counts(100) == (15, 5)
    assert SCHEME.counts(512) == (77, 26)


def test_every_division_is_equally_likely() -> None:
    rows, generator = 30_000, torch.Generator().manual_seed(0)
    found = random_lengths(torch.zeros(rows, 1), 6, 3, generator)
    counts = Counter(map(tuple, found.tolist()))
    assert len(counts) == 10  # 5 over 2
    expected = rows / 10
    assert sum((n - expected) ** 2 / expected for n in counts.values()) < 40  # χ² of 9, 1e-5


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"end": 60}, "`end`"),
        ({"hidden": 0.0}, "`hidden`"),
        ({"span": 0.5}, "`span`"),
    ],
)
def test_impossible_schemes_are_refused(values: dict[str, float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        SpanScheme(**{"first_sentinel": FIRST, "end": END} | values)


def test_a_row_of_one_token_cannot_be_cut() -> None:
    with pytest.raises(InputError, match="2 tokens or more"):
        corrupt_spans(torch.ones(3, 1, dtype=torch.int64), SCHEME)
