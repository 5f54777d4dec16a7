"""Tables as people have them: formats of numbers, encodings, files and databases."""

import gzip
import json
import pickle
import sqlite3

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from chainrule.data import encoder_from_json, table
from chainrule.data.readers.tables.columns import FaultsError, as_columns, read_table
from chainrule.data.readers.tables.numbers import NumberFormat, decimals_of, parse_numbers
from chainrule.data.readers.tables.reading import Reading, decide
from chainrule.data.readers.tables.table import TableOptions
from chainrule.errors import InputError

ROWS = 40
LABELS = ["yes", "no"] * (ROWS // 2)


def read(values, **options) -> list[float]:
    """A column as plain numbers."""
    columns = as_columns({"a": values})
    formats, _ = decide(columns, **options)
    return [float(cell) for cell in Reading(formats).plain(columns)["a"]]


# Numbers


CELLS = ["1", "-2.5", "3e4", "1_000", "٣", "inf", "nan", "", "NA", "?", "word", "0x1", "1,5"]


@given(st.lists(st.sampled_from(CELLS), min_size=1))
def test_a_cell_is_read_alike_whatever_stands_beside_it(cells: list[str]) -> None:
    x, words = parse_numbers(cells)
    alone = [parse_numbers([cell]) for cell in cells]
    np.testing.assert_array_equal(x, np.concatenate([number for number, _ in alone]))
    assert words == [row for row, (_, word) in enumerate(alone) if word]
    assert {cells[row] for row in words} <= {"1_000", "word", "0x1", "1,5"}


@pytest.mark.parametrize(
    ("written", "numbers"),
    [
        (["1,5", "2,25"], [1.5, 2.25]),
        (["1.234,56", "7"], [1234.56, 7]),
        (["1.234.567", "1.234"], [1234567, 1234]),
        (["1,234,567", "1,234"], [1234567, 1234]),
        (["0,125", "1,234"], [0.125, 1.234]),
        (["1'234.50", "12"], [1234.5, 12]),
        (["1 234,5", "1\u202f234"], [1234.5, 1234]),
        (["$33,216.73", "-$7"], [33216.73, -7]),
        (["($7.00)", "$2"], [-7, 2]),
        (["12.50 EUR", "€5"[1:] + " EUR"], [12.5, 5]),
        (["12 %", "0.5%"], [12, 0.5]),
        (["1,5e3", "2,0"], [1500, 2]),
        (["1.234", "2.345"], [1.234, 2.345]),
        ([1.234, "2,5"], [1.234, 2.5]),
    ],
)
def test_numbers_as_people_write_them_are_read(written, numbers):
    assert read(written) == numbers


@pytest.mark.parametrize(("decimal", "number"), [(".", 1234), (",", 1.234)])
def test_the_user_says_what_an_unclear_mark_means(decimal, number):
    assert read(["1,234", "2,345"], decimal=decimal)[0] == number
    with pytest.raises(InputError, match=r"'1.5' is not a number with `decimal` ','"):
        read(["1.5"], decimal=",")
    with pytest.raises(InputError, match="`decimal` must be"):
        read(["1.5"], decimal=";")


def test_an_unclear_mark_follows_the_other_columns():
    for clear, unclear, number in [("1.5", "1,234", 1234.0), ("1,5", "1.234", 1234.0)]:
        columns = {"clear": [clear], "unclear": [unclear]}
        formats, remarks = decide(columns)
        assert float(Reading(formats).plain(columns)["unclear"][0]) == number
        assert f"column 'unclear': {unclear!r} is read as 1234" in remarks
    with pytest.raises(InputError, match="may be decimal or group thousands"):
        decide({"a": ["1.5"], "b": ["1,5"], "unclear": ["1,234"]})


@given(st.decimals(-(10**9), 10**9, places=2), st.sampled_from("$€"), st.booleans())
def test_a_written_number_is_read_back(number, symbol, german):
    text = f"{symbol}{abs(number):,.2f}"
    if german:
        text = text.translate(str.maketrans(",.", ".,"))
    text = "-" * (number < 0) + text
    decimal = "," if german else "."
    assert decimals_of(text) == {decimal}
    assert NumberFormat(decimal, symbol).number(text) == float(number)


def test_the_format_of_a_column_is_kept_for_later_files():
    prices = [f"{row},50 €" for row in range(ROWS)]
    splits = table({"price": prices, "y": LABELS}, "y")
    assert splits.remarks == ("column 'price': '0,50 €' is read as 0.5",)
    encoder = encoder_from_json(json.loads(json.dumps(splits.encoder.to_json())))
    assert encoder == splits.encoder
    x = encoder.encode({"price": ["1.234,50 €", "1234,5", 1234.5]})
    assert x[0] == x[1] == x[2]
    with pytest.raises(InputError, match=r"row 1 .* like '1234,5€', as in training, got '1.5'"):
        encoder.encode({"price": ["1.5"]})


# Missing values, case, names


def test_marks_for_missing_values_can_be_named():
    values = [-999 if row % 4 == 0 else row % 7 for row in range(ROWS)]
    words = ["Unknown" if row % 5 == 0 else "ab"[row % 2] for row in range(ROWS)]
    source = {"number": values, "word": words, "y": LABELS}
    splits = table(source, "y", options=TableOptions(missing=("-999", "unknown")))
    assert splits.encoder.features == ("number", "number missing", "word=a", "word=b")
    x = splits.encoder.encode({"number": ["-999.0"], "word": ["UNKNOWN"]})
    assert x[0, 1:].tolist() == [1, 0, 0]


def test_words_that_differ_in_case_only_are_one():
    words = ["Yes", "yes", "NO", "no", "yes"] * (ROWS // 5)
    splits = table({"word": words, "n": [row % 9 for row in range(ROWS)], "y": words}, "y")
    assert splits.classes == ("NO", "yes")
    assert splits.encoder.features == ("word=NO", "word=yes", "n")
    assert "column 'word': 'yes' = 'Yes'; 'NO' = 'no'" in splits.remarks
    assert splits.encoder.encode({"word": ["YES"], "n": [0]})[0, :2].tolist() == [0, 1]
    apart = table({"word": words, "y": LABELS}, "y", options=TableOptions(fold_case=False))
    assert apart.encoder.features == ("word=NO", "word=Yes", "word=no", "word=yes")


@pytest.mark.parametrize(
    ("text", "names", "remark"),
    [
        (",a\n5,1\n", ["column 1", "a"], "column 1 has no name"),
        ("a,b,a,a\n1,2,3,4\n", ["a", "b", "a (2)", "a (3)"], "another column named 'a'"),
        ("a,a (2),a\n1,2,3\n", ["a", "a (2)", "a (3)"], "is called 'a (3)'"),
        ("a b\nr1,1,2\n".replace(" ", ","), ["column 1", "a", "b"], "column 1 has no name"),
        ("a,b\n1,2,\n", ["a", "b"], ""),
    ],
)
def test_columns_without_a_name_of_their_own_get_one(tmp_path, text, names, remark):
    (tmp_path / "t.csv").write_text(text)
    found = read_table(tmp_path / "t.csv")
    assert list(found.columns) == names
    assert remark in "; ".join(found.remarks)


def test_an_unnamed_column_that_numbers_the_rows_is_dropped(tmp_path):
    frame = pd.DataFrame({"n": [row % 7 for row in range(ROWS)], "y": LABELS})
    frame.to_csv(tmp_path / "t.csv")
    splits = table(tmp_path / "t.csv", "y")
    assert splits.encoder.features == ("n",)
    assert "column 'column 1' was dropped: it numbers the rows" in splits.remarks


# Encodings and files


@pytest.mark.parametrize(
    ("encoding", "remark"),
    [
        ("utf-8", ""),
        ("utf-8-sig", ""),
        ("cp1252", "read as Windows-1252"),
        ("utf-16", "read as UTF-16"),
        ("utf-16-le", "read as UTF-16"),
        ("utf-16-be", "read as UTF-16"),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_the_encoding_of_a_text_is_found(tmp_path, encoding, remark, packed):
    content = "größe;preis\ncafé;5 €\n".encode(encoding)
    path = tmp_path / "t.csv"
    path.write_bytes(gzip.compress(content, mtime=0) if packed else content)
    found = read_table(path)
    assert found.columns == {"größe": ["café"], "preis": ["5 €"]}
    assert remark in "; ".join(found.remarks) and bool(found.remarks) == bool(remark)


def frame() -> pd.DataFrame:
    days = pd.date_range("2026-01-01", periods=ROWS, freq="5D")
    number = [row * 0.125 if row % 6 else None for row in range(ROWS)]
    return pd.DataFrame({"n": number, "word": list("abcd") * (ROWS // 4), "day": days, "y": LABELS})


@pytest.mark.parametrize(
    ("suffix", "library"), [("parquet", "pyarrow"), ("feather", "pyarrow"), ("xlsx", "openpyxl")]
)
def test_a_file_of_another_library_is_the_same_table(tmp_path, suffix, library):
    pytest.importorskip(library)
    path = tmp_path / f"t.{suffix}"
    if suffix == "xlsx":
        frame().to_excel(path, index=False)
    else:
        getattr(frame(), f"to_{suffix}")(path)
    expected, found = table(frame(), "y"), table(path, "y")
    assert torch.equal(found.train.x, expected.train.x)
    assert found.encoder == expected.encoder


def test_polars_frames_are_tables():
    polars = pytest.importorskip("polars")
    source = {"n": [1.5, None, *range(ROWS - 2)], "y": LABELS}
    found = table(polars.DataFrame(source, strict=False), "y")
    assert torch.equal(found.train.x, table(source, "y").train.x)


def test_a_database_is_asked(tmp_path):
    path = tmp_path / "shop.db"
    rows = [(row * 0.5, label) for row, label in enumerate(LABELS * 3)]
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE sales (price REAL, y TEXT)")
        connection.executemany("INSERT INTO sales VALUES (?, ?)", rows)
    connection.close()
    assert len(read_table(path).columns["price"]) == 3 * ROWS
    query = "SELECT price * price AS square, y FROM sales WHERE price > 2"
    splits = table(path, "y", options=TableOptions(query=query))
    assert splits.encoder.features == ("square",)
    assert len(splits.encoder.encode_file(path)) == 3 * ROWS - 5
    for wrong, message in [
        ("SELECT absent FROM sales", "the database refuses `query`: no such column"),
        ("DROP TABLE sales", "refuses `query`: attempt to write a readonly"),
        ("BEGIN", "`query` returns no columns; expected a SELECT"),
    ]:
        with pytest.raises(InputError, match=message):
            read_table(path, wrong)
    pytest.importorskip("sqlalchemy")
    assert read_table(f"sqlite:///{path}", query) == read_table(path, query)
    with pytest.raises(InputError, match=r"expected a `query` for the database sql://host/db"):
        read_table("sql://user:secret@host/db")


def test_a_query_to_something_else_is_refused(tmp_path):
    (tmp_path / "t.csv").write_text("a\n1\n")
    with pytest.raises(InputError, match="is not a database; expected no `query`"):
        read_table(tmp_path / "t.csv", "SELECT 1")


def test_a_library_that_is_not_there_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    (tmp_path / "t.parquet").write_bytes(b"PAR1")
    with pytest.raises(InputError, match=r"needs pyarrow: pip install 'chainrule\[tables\]'"):
        read_table(tmp_path / "t.parquet")


# Targets of any magnitude


@pytest.mark.parametrize(
    ("center", "spread"), [(1_700_000_000, 50), (-1e12, 1), (0, 1e20), (1e-9, 1e-12), (30, 5)]
)
def test_targets_of_any_magnitude_keep_their_digits(center, spread):
    x = torch.randn(ROWS, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    y = center + spread * x
    splits = table({"x": x.tolist(), "y": y.tolist()}, "y")
    encoder = encoder_from_json(json.loads(json.dumps(splits.encoder.to_json())))
    restored = encoder.restored(splits.train.y)
    x_train = splits.train.x[:, 0].double() * encoder.columns[0].std + encoder.columns[0].mean
    assert restored.dtype == torch.float64
    assert ((restored - center) / spread - x_train).abs().max() < 5e-4
    plain = (center, spread) == (30, 5)
    assert (encoder.shift == 0 and encoder.scale == 1 and not splits.remarks) == plain


@pytest.mark.parametrize("mark", [".", ","])
def test_numbers_of_four_digits_and_two_decimals_are_no_dates(mark):
    amounts = [f"{1900 + 7 * k}{mark}{k % 90 + 10}" for k in range(40)]
    data = table({"amount": amounts, "y": [str(k * 1.5) for k in range(40)]}, "y")
    assert data.train.x.shape[1] == 1
    assert not any("date" in remark for remark in data.remarks)


def test_a_year_and_a_month_with_a_dash_are_a_date():
    months = [f"20{10 + k // 12}-{k % 12 + 1:02d}" for k in range(40)]
    data = table({"month": months, "y": [str(k * 1.5) for k in range(40)]}, "y")
    assert any("dates" in remark for remark in data.remarks)


@pytest.mark.parametrize("odd", ["k.A.", "unbekannt", "14"])
def test_a_column_with_a_unit_and_other_words_is_not_taken_for_words(odd: str) -> None:
    cells = [f"{k} kg" for k in range(18)] + [odd, odd]
    with pytest.raises(InputError, match=rf"numbers with the unit 'kg', but '{odd}' in row 19"):
        decide({"w": cells})
    formats, _ = decide({"w": cells}, missing=(odd,)) if odd != "14" else ({"w": None}, ())
    assert "w" in formats


def test_numbers_with_several_units_are_words_and_a_note_says_so() -> None:
    formats, remarks = decide({"w": [f"{k} kg" for k in range(15)] + ["500 g"] * 3})
    assert not formats
    assert remarks == (
        "column 'w' has numbers with different units ('kg', 'g') and is read as words",
    )


def test_a_unit_after_every_number_is_left_out_and_named():
    weights = [f"{k},5 kg" for k in range(39)] + ["n/a"]
    data = table({"w": weights, "y": [str(k * 1.5) for k in range(40)]}, "y")
    assert data.train.x.shape[1] == 2  # the number, and whether it is missing
    assert "column 'w': '0,5 kg' is read as 0.5" in data.remarks
    encoder = encoder_from_json(json.loads(json.dumps(data.encoder.to_json())))
    rows = encoder.encode({"w": ["7,5 kg", "8,5 kg"]})
    assert rows[0, 0] < rows[1, 0]


def test_words_with_numbers_before_them_are_words_unless_the_word_is_one():
    sizes = ["2 rooms", "3 rooms", "1 studio", "2 flats"] * 10
    data = table({"size": sizes, "y": [str(k * 1.5) for k in range(40)]}, "y")
    assert data.train.x.shape[1] == 4


def test_faults_come_through_a_process_boundary():
    fault = pickle.loads(pickle.dumps(FaultsError("two faults", ["one", "another"])))
    assert (str(fault), fault.found) == ("two faults", ["one", "another"])
