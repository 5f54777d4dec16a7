"""Dates, ids, leaks and columns of many words: what becomes of them, by hand."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch

from chainrule.data import encoder_from_json, table
from chainrule.data.readers.tables.column_checks import is_identifier, sentinel_of
from chainrule.data.readers.tables.date_column import DateColumn, DateForm
from chainrule.data.readers.tables.dates import seconds, seconds_of_day
from chainrule.data.readers.tables.table import TableOptions
from chainrule.data.readers.tables.word_columns import EmbeddedColumn, HashedColumn, TargetColumn
from chainrule.errors import InputError

ROWS = 600
RANDOM = np.random.default_rng(0)
TOWNS = [f"town {k}" for k in range(100)]


def many_words(**changed) -> dict:
    """A number, a town of a hundred, and a class that depends on the town."""
    draw = np.random.default_rng(0)
    towns = [TOWNS[k] for k in draw.integers(0, 100, ROWS)]
    label = ["up" if int(town.split()[1]) % 2 else "down" for town in towns]
    noise = draw.random(ROWS) < 0.1
    label = ["down" if flip else word for flip, word in zip(noise, label, strict=True)]
    return {"x": draw.normal(size=ROWS), "town": towns, "label": label} | changed


# Words


def test_the_encoding_by_the_target_is_the_smoothed_mean_by_hand():
    values, y = ["a", "a", "b", "?"], np.array([[1.0], [2.0], [6.0], [3.0]])
    column, _ = TargetColumn.fit("c", values, y, ("y",))
    means = np.array([(1 - 3 + 2 - 3) / 12, (6 - 3) / 11])
    scale = np.array([means[0], means[0], means[1], 0]).std()
    expected = [[means[0] / scale], [means[1] / scale], [0.0], [0.0]]
    np.testing.assert_allclose(column.encode(["A", "b", "new", ""]), expected)


def test_the_encoding_of_a_training_row_does_not_know_its_own_target():
    values, y = ["a", "b"] * 20, RANDOM.normal(size=(40, 1))
    column, own = TargetColumn.fit("c", values, y, ("y",))
    changed = y.copy()
    changed[7] += 100
    other, later = TargetColumn.fit("c", values, changed, ("y",))
    shift = own[7] / own[17]  # rows 7 and 17: one fold, one word; only the scale changes
    np.testing.assert_allclose(later[7] / later[17], shift)
    assert not np.allclose(own[6] / own[8], later[6] / later[8])
    assert column.words == other.words


def test_hashed_words_have_a_place_whether_seen_or_not():
    column = HashedColumn.fit("c", TOWNS)
    assert column.buckets == 64
    x = column.encode(["town 3", "TOWN 3", "never seen", ""])
    assert x.sum(1).tolist() == [1, 1, 1, 0] and np.array_equal(x[0], x[1])


def test_rare_and_other_words_have_the_number_zero():
    column = EmbeddedColumn.fit("c", ["b", "b", "a", "a", "once"])
    assert column.words == ("a", "b")
    assert column.encode(["A", "b", "once", ""]).tolist() == [[1], [2], [0], [0]]


@pytest.mark.parametrize(
    ("categories", "width", "said"),
    [
        ("auto", 1, "mean of the target of each word"),
        ("target", 1, "mean of the target of each word"),
        ("hashed", 64, "share 64 features by their hash"),
        ("embedding", 1, "learns a vector for each"),
        ("one-hot", 99, ""),  # words of the training rows
    ],
)
def test_a_column_of_many_words_is_encoded_as_told(categories, width, said):
    data = table(many_words(), "label", options=TableOptions(categories=categories))
    assert data.train.x.shape[1] == 1 + width
    assert said in " ".join(data.remarks)
    again = encoder_from_json(json.loads(json.dumps(data.encoder.to_json())))
    assert again == data.encoder
    rows = {"x": [0.0, 1.0], "town": ["town 3", "Atlantis"]}
    assert torch.equal(again.encode(rows), data.encoder.encode(rows))
    if categories != "hashed":
        assert "'Atlantis' in 1 of 2 rows was not in the training rows" in again.unseen(rows)[0]


# Dates


def test_parts_of_a_date_by_hand():
    cells = ["2024-01-01 06:00", "2024-01-08 18:00", ""]
    column = DateColumn.fit("d", cells, [0, 1, 2], DateForm(True, False))
    assert column.features == (
        "d",
        "d day sin",
        "d day cos",
        "d year sin",
        "d year cos",
        "d missing",
    )
    x = column.encode(cells)
    np.testing.assert_allclose(x[:2, 1], [1, -1], atol=1e-12)  # a quarter of the day, and three
    np.testing.assert_allclose(x[0, 3:5], [0, 1], atol=1e-12)  # the first day of the year
    assert x[2].tolist() == [0, 0, 0, 0, 0, 1]


@pytest.mark.parametrize(
    ("cell", "day_first", "expected"),
    [
        ("1/3/2024", True, "2024-03-01T00:00"),
        ("1/3/2024", False, "2024-01-03T00:00"),
        ("3 March 2024", True, "2024-03-03T00:00"),
        ("Mar 3, 2024 2:30 pm", True, "2024-03-03T14:30"),
        ("2024-03-01T14:30:00+02:00", True, "2024-03-01T12:30"),
        ("31.12.99", True, "1999-12-31T00:00"),
        ("2024-03", True, "2024-03-01T00:00"),
    ],
)
def test_dates_as_people_write_them(cell, day_first, expected):
    wanted = np.datetime64(expected, "s").astype(int)
    assert seconds("here", cell, day_first) == wanted


@pytest.mark.parametrize("cell", ["2024-02-30", "2024-13-01", "2024-01-01 25:00", "13:00 pm"])
def test_what_is_no_date_is_refused(cell):
    with pytest.raises(InputError, match="here: "):
        seconds("here", cell, day_first=True)
    with pytest.raises(InputError, match="here: "):
        seconds_of_day("here", cell)


def test_days_and_months_in_doubt_are_refused_unless_told():
    doubtful = [f"{1 + k % 12}/{1 + k % 11}/2024" for k in range(ROWS)]
    with pytest.raises(InputError, match=r"the day or the month first; .* or set `date_order`"):
        table(many_words(day=doubtful), "label")
    first = [
        table(many_words(day=doubtful), "label", options=TableOptions(date_order=order)).encoder
        for order in ("day-first", "month-first")
    ]
    assert [encoder.columns[2].day_first for encoder in first] == [True, False]


def test_numbers_such_as_20240301_are_dates_and_times_of_day_have_a_cycle():
    dates = [f"2024{1 + k % 12:02d}{1 + k % 28:02d}" for k in range(ROWS)]
    clocks = [f"{k % 24}:30" for k in range(ROWS)]
    encoder = table(many_words(day=dates, clock=clocks), "label").encoder
    assert [type(column).__name__ for column in encoder.columns[2:]] == ["DateColumn"] * 2
    assert encoder.columns[3].features == ("clock day sin", "clock day cos")


def test_frames_of_pandas_and_polars_keep_their_dates_and_categories():
    days = pd.date_range("2023-01-01", periods=ROWS)
    source = many_words(flag=[bool(k % 2) for k in range(ROWS)])
    frame = pd.DataFrame(source | {"day": days}).astype({"town": "category"})
    frame.loc[5:60, "day"] = pd.NaT
    found = table(frame, "label")
    other = table(pl.DataFrame(frame.astype({"town": str})), "label")
    assert torch.equal(found.train.x, other.train.x) and found.remarks == other.remarks
    assert found.encoder.features[-1] == "day missing"


# Ids, leaks, marks


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("customer_id", ["7", "3", "9"], True),
        ("orderId", ["a1", "b2", "c3"], True),
        ("ID", ["7", "3", "3"], False),
        ("paid", ["7", "3", "9"], False),
        ("id", ["7.5", "3", "9"], False),
    ],
)
def test_ids_are_called_so_and_differ_in_every_row(name, values, expected):
    assert is_identifier(name, values) is expected


def test_an_id_is_dropped_unless_it_is_kept():
    ids = [str(7 * k**2 + 11) for k in range(ROWS)]
    data = table(many_words(user_id=ids), "label")
    assert "column 'user_id' was dropped: it is an id" in " ".join(data.remarks)
    kept = table(many_words(user_id=ids), "label", options=TableOptions(keep=("user_id",)))
    assert "user_id" in kept.encoder.features
    with pytest.raises(InputError, match="'x' in `ignore` or in `keep`, got it in both"):
        table(many_words(), "label", ignore=("x",), options=TableOptions(keep=("x",)))


def test_a_column_that_gives_the_target_away_is_named():
    source = many_words()
    source["refund"] = [3.0 if word == "up" else -1.0 for word in source["label"]]
    data = table(source, "label")
    assert "column 'refund' alone gives the target away" in data.remarks[-1]
    price = RANDOM.lognormal(size=ROWS)
    copies = {"x": RANDOM.normal(size=ROWS), "cents": 100 * price, "price": price}
    assert "column 'cents' alone gives" in table(copies, "price").remarks[-1]
    assert not any("gives" in remark for remark in table(many_words(), "label").remarks)


def test_marks_for_missing_values_are_named():
    marked = ["-" if k % 9 == 0 else str(k % 7) for k in range(ROWS)]
    data = table(many_words(a=marked), "label")
    assert "column 'a': '-' is read as missing" in data.remarks
    assert "a missing" in data.encoder.features


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([*["-999"] * 3, "1", "2", "3", "4"], "-999"),
        ([*["9999"] * 3, "1", "2", "3", "4"], "9999"),
        ([*["-999"] * 2, "1", "2", "3", "4", "5"], ""),
        ([*["99"] * 3, "98", "97", "1", "2"], ""),
        ([*["77"] * 3, "1", "2", "3", "4"], ""),
    ],
)
def test_a_number_that_marks_missing_values_is_noticed(values, expected):
    assert sentinel_of(values) == expected


def test_long_tails_are_compressed_when_asked_and_restored_by_their_formula():
    tail = RANDOM.lognormal(sigma=2, size=ROWS)
    data = table(many_words(tail=tail), "label", options=TableOptions(long_tails=True))
    (column,) = (c for c in data.encoder.columns if c.name == "tail")
    assert column.log > 0 and "column 'tail' has a long tail" in " ".join(data.remarks)
    z = column.encode([repr(float(value)) for value in tail])[:, 0]
    np.testing.assert_allclose(column.restored(z), tail, rtol=1e-9)
    assert not any(c.log for c in data.encoder.columns if c.name == "x")
