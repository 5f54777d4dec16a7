"""Small files that once cost much: refused or read in time and memory that grow with the file."""

import gzip

import pytest
import torch

from chainrule.data import table
from chainrule.data.datasets import usps
from chainrule.data.readers.points.point_encoders import PointEncoder
from chainrule.data.readers.tables import column_fitting, column_kinds, columns
from chainrule.data.readers.tables.column_encodings import CategoricalColumn, NumericColumn
from chainrule.data.readers.tables.columns import read_csv
from chainrule.data.readers.tables.dates import matched
from chainrule.data.readers.tables.numbers import decimals_of
from chainrule.data.readers.tables.table import TableOptions
from chainrule.data.readers.tables.table_encoder import TableEncoder
from chainrule.data.text import vocabulary
from chainrule.data.text.vocabulary import pad_sequences
from chainrule.data.text.words import split_words
from chainrule.errors import InputError

YES_NO = ["yes", "no"]


def test_a_column_of_too_many_words_is_dropped_with_a_note(monkeypatch):
    monkeypatch.setattr(column_fitting, "MAX_WORDS", 25)
    words = [f"w{i % 26}" for i in range(104)]
    source = {"word": words, "x": list(range(0, 208, 2)), "y": YES_NO * 52}
    found = table(source, "y", options=TableOptions(categories="one-hot"))
    assert found.train.x.shape[1] == 1
    assert found.remarks == ("column 'word' was dropped: it has 26 different words, more than 25",)


def test_a_table_of_too_many_words_is_refused(monkeypatch):
    monkeypatch.setattr(column_fitting, "MAX_ONE_HOT", 500)
    source = {"few": list("abc") * 20, "many": list("abcdef") * 10, "y": YES_NO * 30}
    with pytest.raises(InputError, match=r"9 words in 60 rows .* more than 500 .* such as 'many'"):
        table(source, "y")


def test_one_hot_rows_have_one_at_their_word_and_none_for_others():
    column = CategoricalColumn("c", ("a", "b"))
    assert column.encode(["b", "?", "a", "z"]).tolist() == [[0, 1], [0, 0], [1, 0], [0, 0]]
    assert column.encode([]).shape == (0, 2)


@pytest.mark.parametrize("last", ["c0", "other"])
def test_a_hundred_thousand_column_names_are_compared_in_one_pass(tmp_path, last):
    path = tmp_path / "wide.csv"
    header = ",".join(f"c{i}" for i in range(100_000))
    path.write_text(f"{header},{last}\n" + "1," * 100_000 + "1\n")
    names = list(read_csv(path))
    assert len(names) == 100_001
    assert names[-1] == ("other" if last == "other" else "c0 (2)")


def test_messages_about_many_columns_stay_short(tmp_path):
    path = tmp_path / "wide.csv"
    path.write_text(",".join(map(str, range(10_000))) + "\n")
    with pytest.raises(InputError, match=r"got the numbers 0, 1, .*19, …$"):
        read_csv(path)
    wide = {f"c{i}": ["1"] for i in range(10_000)}
    with pytest.raises(InputError, match=r"'c19' and 9,980 more$"):
        columns.require_columns(wide, ["other"])


@pytest.mark.parametrize("cell", ["-" + " " * 10**6 + "x", "1" * 10**6 + "x", "1 " * 10**6])
def test_a_long_cell_is_neither_a_formatted_number_nor_a_date(cell):
    assert not decimals_of(cell) and not matched(cell)
    assert decimals_of("$ 1,234.50") == {"."} and matched("3 March 2020")


@pytest.mark.parametrize("text", ["a1." * 50_000, "a.+-" * 50_000, "x" * 200_000 + "@"])
def test_words_are_found_in_one_pass(text):
    assert split_words(text)


def test_an_address_is_one_word():
    assert split_words("write to jo.doe+x@mail.org today") == [
        *("write", "to", "jo.doe+x@mail.org", "today")
    ]


def test_a_long_line_among_many_is_not_padded_without_bounds(monkeypatch):
    monkeypatch.setattr(vocabulary, "MAX_PADDED", 100)
    assert pad_sequences([[1] * 10] * 10).shape == (10, 10)
    with pytest.raises(InputError, match=r"11 texts padded to 10 tokens are more than 100 tokens"):
        pad_sequences([[1] * 10, *[[1]] * 10])


@pytest.mark.parametrize(
    "text",
    [
        "OFF\n3 1 0\n0 0 0\n1e39 0 0\n0 1 0\n3 0 1 2\n",  # beyond float32
        "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n99999999999999999999 0 1 2\n",  # beyond int64
        "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 99999999999999999999\n",
        "OFF\n3 1 0\n0 0 0\n1e38 0 0\n-3e38 1 0\n3 0 1 2\n",  # their distance overflows
    ],
)
def test_absurd_numbers_of_a_mesh_are_refused(tmp_path, text):
    (tmp_path / "mesh.off").write_text(text)
    with pytest.raises(InputError, match=r"mesh.off: expected"):
        PointEncoder(8).encode_file(tmp_path / "mesh.off")


@pytest.mark.parametrize("number", ["1e39", "-1e31", "1e400"])
def test_absurd_numbers_of_a_point_are_refused(tmp_path, number):
    (tmp_path / "points.txt").write_text(f"0 0 0\n{number} 1 1\n")
    with pytest.raises(InputError, match=r"points.txt: expected two points or more"):
        PointEncoder(8).encode_file(tmp_path / "points.txt")


def test_cells_far_from_the_training_data_are_refused():
    column = NumericColumn("a", mean=0.0, std=1e-12, median=0.0)
    with pytest.raises(
        InputError, match=r"column 'a': expected numbers like those of the training"
    ):
        TableEncoder((column,), "y").encode({"a": ["1", "1e25"]})


def test_infinite_cells_number_no_rows():
    assert not column_kinds.is_row_index(["inf", "1", "2"])
    assert not column_kinds.is_row_index(["1e308", "-1e308"])


def test_the_order_of_columns_is_that_of_the_features():
    source = {"a": [1.0, 2, 3, 5] * 10, "b": list("xyxy") * 10, "y": YES_NO * 20}
    found = table(source, "y")
    assert found.encoder.features == ("a", "b=x", "b=y")
    assert torch.equal(found.train.x[:, 1] + found.train.x[:, 2], torch.ones(len(found.train.x)))


def test_a_text_without_digits_is_refused(tmp_path):
    path = tmp_path / "zip.test.gz"
    path.write_bytes(gzip.compress(b"\n\n"))
    with pytest.raises(InputError, match=r"zip.test.gz is damaged \(expected 7 rows"):
        usps.checked(path, usps.read_text(path), 7)
