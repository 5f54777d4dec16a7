"""A user's own table: what is read, what is left out with a note, what is refused."""

import json

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from chainrule.data import encoder_from_json, table
from chainrule.data.readers.tables.column_encodings import CategoricalColumn, NumericColumn
from chainrule.data.readers.tables.column_kinds import are_dates, is_row_index
from chainrule.data.readers.tables.columns import as_columns, read_csv
from chainrule.data.readers.tables.table import TableOptions
from chainrule.data.readers.tables.table_encoder import TableEncoder
from chainrule.errors import InputError

ROWS = 60


def columns(**changed) -> dict:
    """A table whose class is the sign of a number, with one color per row."""
    numbers = [(-1) ** row * (1 + row / 10) for row in range(ROWS)]
    colors = [("red", "green", "blue")[row % 3] for row in range(ROWS)]
    label = ["up" if number > 0 else "down" for number in numbers]
    return {"number": numbers, "color": colors, "label": label} | changed


@pytest.fixture
def write(tmp_path):
    def write(content: str | bytes) -> str:
        path = tmp_path / "table.csv"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    return write


# Reading CSV


def test_columns_separated_by_spaces_are_found_and_a_note_says_so(write):
    lines = ["a  name y", *(f'{k % 7} "x y"   {k % 2}' for k in range(30))]
    data = table(write("\n".join(lines) + "\n"), "y")
    assert "the columns are separated by spaces" in data.remarks
    assert len(data.train.x) + len(data.validation.x) + len(data.test.x) == 30
    words = ["a sentence of words", "two words", "three words more", "a"]
    assert list(as_columns(write("\n".join(words)))) == ["a sentence of words"]


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_the_delimiter_and_line_ends_are_found(write, delimiter, end):
    lines = ("a|b", "1|x y", "", "2| z ")
    path = write(end.join(lines).replace("|", delimiter))
    assert read_csv(path) == {"a": ["1", "2"], "b": ["x y", "z"]}


def test_a_byte_order_mark_and_quotes_are_not_content(write):
    assert read_csv(write(b'\xef\xbb\xbf"a, b",c\n"1,5","say ""hi"""\n')) == {
        "a, b": ["1,5"],
        "c": ['say "hi"'],
    }


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        ("\n\n", "is empty"),
        ("a,b\n", "no rows"),
        ("a,b\n1,2\n3\n", "line 3: expected 2 values, got 1"),
        ("a,b\n1,2\n\n3,4,5\n", "line 4: expected 2 values, got 3"),
        ("1,2\n3,4\n", "line 1: expected column names, got the numbers"),
        ('a,b\n1,"2\n', "line 2: unexpected end of data"),
        (b"a,b\n\x01\xff,1\n", "is not text; expected a table as CSV"),
        ("a,b\n1\n2,3\n4\n", "2 faults: line 2: expected 2 values, got 1; line 4: expected 2"),
    ],
)
def test_a_file_that_is_no_table_is_refused_with_its_line(write, content, message):
    with pytest.raises(InputError, match=message):
        read_csv(write(content))


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (
            b"PK\x03\x04..[Content_Types].xml..xl/workbook.xml",
            "(cannot be read as|is) an Excel workbook",
        ),
        (b"PK\x03\x04..table.csv", "is a zip archive; unpack it"),
        (b"\x89PNG\r\n\x1a\n", "is a PNG image; expected a table"),
        (b"PAR1\x15\x04", "(cannot be read as|is) a Parquet or Feather file"),
        (b"SQLite format 3\x00", ": the database refuses"),
    ],
)
def test_a_file_of_another_kind_is_called_by_its_name(write, content, what):
    with pytest.raises(InputError, match=f"table.csv ?{what}"):
        read_csv(write(content))


def test_a_stray_control_character_does_not_make_a_text_binary(write):
    review = "a film like no other" * 20
    assert read_csv(write(f"text\n{review}\x10\n")) == {"text": [f"{review}\x10"]}
    with pytest.raises(InputError, match="is not text"):
        read_csv(write(f"text\n{review}\0\n"))


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(InputError, match="there is no file"):
        read_csv(tmp_path / "none.csv")
    with pytest.raises(InputError, match="is a folder; expected a file"):
        read_csv(tmp_path)


# Splits of a table


def test_a_file_a_frame_and_a_dictionary_give_the_same_splits(tmp_path):
    frame = pd.DataFrame(columns())
    frame.to_csv(tmp_path / "table.csv", index=False)
    sources = (tmp_path / "table.csv", str(tmp_path / "table.csv"), frame, columns())
    results = [table(source, target="label") for source in sources]
    for splits in results:
        assert torch.equal(splits.train.x, results[0].train.x)
        assert torch.equal(splits.test.y, results[0].test.y)
    assert results[0].classes == ("down", "up")
    assert [len(part.y) for part in (splits.train, splits.validation, splits.test)] == [36, 12, 12]


def test_training_features_are_standardized_and_words_one_hot():
    splits = table(columns(), target="label")
    assert splits.encoder.features == ("number", "color=blue", "color=green", "color=red")
    x = splits.train.x
    torch.testing.assert_close(x[:, 0].mean(), torch.tensor(0.0), atol=1e-6, rtol=0)
    torch.testing.assert_close(x[:, 0].std(correction=0), torch.tensor(1.0))
    assert x[:, 1:].sum(dim=1).eq(1).all()
    assert torch.equal(splits.train.y, (x[:, 0] > x[:, 0].median()).long())


def test_test_rows_do_not_touch_the_encoding():
    plain = table(columns(), target="label")
    tested = [row >= 48 for row in range(ROWS)]
    given_rows = table(columns(), target="label", options=TableOptions(tested))
    wild = columns()
    wild["number"][48:] = [1e6] * 12
    shifted = table(wild, target="label", options=TableOptions(tested))
    assert shifted.encoder == given_rows.encoder != plain.encoder


@pytest.mark.parametrize("marker", ["", "NA", "NaN", "null", "None", "?", None, np.nan, pd.NA])
def test_a_missing_number_is_the_training_median_and_a_sign(marker):
    values = [marker if row % 4 == 0 else float(row % 5) for row in range(ROWS)]
    splits = table(columns(number=values), target="label")
    column = splits.encoder.columns[0]
    assert splits.encoder.features[:2] == ("number", "number missing")
    x = splits.encoder.encode({"number": [marker, column.median], "color": ["red", "red"]})
    assert x[0, 0] == x[1, 0] and x[:, 1].tolist() == [1, 0]


def test_missing_and_unseen_words_are_all_zeros():
    encoder = table(columns(), target="label").encoder
    x = encoder.encode({"number": [1, 1], "color": ["violet", ""]})
    assert x[:, 1:].eq(0).all()


def test_columns_without_information_are_left_out_with_a_note():
    names = [f"person {row}" for row in range(ROWS)]
    empty = [""] * ROWS
    splits = table(columns(same=[7] * ROWS, word=["a"] * ROWS, name=names, empty=empty), "label")
    assert splits.encoder.features[0] == "number" and len(splits.encoder.features) == 4
    for name, reason in [
        ("same", "same"),
        ("word", "same"),
        ("name", "its words are nearly all different"),
        ("empty", "same"),
    ]:
        assert any(f"'{name}' was dropped" in note and reason in note for note in splits.remarks)


@pytest.mark.parametrize("rows", [30, 60, 800])
def test_words_that_are_nearly_all_different_are_left_out_of_small_tables_too(rows):
    source = {
        "number": [row % 7 for row in range(rows)],
        "name": [f"person {row}" for row in range(rows)],
        "town": [f"town {row % 20}" for row in range(rows)],
        "label": ["up", "down"] * (rows // 2),
    }
    splits = table(source, target="label")
    dropped = "column 'name' was dropped: its words are nearly all different; `keep` keeps it"
    assert splits.remarks[0] == dropped
    assert [column.name for column in splits.encoder.columns] == ["number", "town"]


@pytest.mark.parametrize("ids", [range(1, ROWS + 1), range(ROWS, 0, -1), range(1000, 1000 + ROWS)])
def test_a_column_that_numbers_the_rows_is_left_out(ids):
    labels = columns()["label"]
    labels[5] = ""  # a row that goes must not hide the counting
    splits = table(columns(customer_id=list(ids), label=labels), target="label")
    assert "customer_id" not in splits.encoder.features
    assert splits.remarks[1:] == ("column 'customer_id' was dropped: it numbers the rows",)
    assert splits.encoder.remarks == splits.remarks[1:]


@pytest.mark.parametrize(
    ("values", "counting"),
    [
        (["1", "2", "3"], True),
        (["3.0", "2.0"], True),
        (["1", "2", "2"], False),
        (["1", "3", "5"], False),
        (["0.5", "1.5"], False),
        (["1", "", "3"], False),
        (["a", "b"], False),
        (["1"], False),
        ([], False),
    ],
)
def test_only_consecutive_whole_numbers_count_the_rows(values, counting):
    assert is_row_index(values) is counting


def test_ignored_columns_are_not_read_at_all():
    broken = ["$1", *range(59)]
    splits = table(columns(broken=broken), target="label", ignore=("broken", "color"))
    assert splits.encoder.features == ("number",) and splits.remarks == ()
    with pytest.raises(InputError, match=r"no column named 'colr'; did you mean color\?"):
        table(columns(), target="label", ignore=("colr",))
    with pytest.raises(InputError, match="the target 'label' cannot be in ignore"):
        table(columns(), target="label", ignore=("label",))


@pytest.mark.parametrize(
    "write_date",
    ["%Y-%m-%d", "%d/%m/%Y", "%d.%m.%y", "%Y-%m-%d %H:%M:%S", "%d %b %Y", "%B %d, %Y", "%Y/%m/%d"],
)
def test_dates_are_numbers_with_their_cycles(write_date):
    days = pd.date_range("2020-03-01", periods=ROWS // 2, freq="9D").strftime(write_date).tolist()
    splits = table(columns(signup=days * 2), target="label")
    names = "signup, signup week sin, signup week cos, signup year sin, signup year cos"
    assert splits.remarks == (f"column 'signup' is read as dates: {names}",)
    first, later = splits.encoder.encode(columns(signup=[days[0], days[7]] * 30))[:2]
    same_weekday = splits.encoder.features.index("signup week sin")
    torch.testing.assert_close(first[same_weekday], later[same_weekday])  # 63 days later
    course = splits.encoder.features.index("signup")
    assert later[course] > first[course]
    some = table(columns(signup=[*days, *days[:-9], *[""] * 9]), target="label")
    assert some.encoder.features[-1] == "signup missing"


@pytest.mark.parametrize("word", ["2020", "flat 12", "10.0.0.1", "maybe", "A-12-2020", "555-1234"])
def test_other_words_are_no_dates(word):
    assert not are_dates([word])


@pytest.mark.parametrize("words", ["12-17", "3 rooms", "12 34 56", "1_000", "A 1,234", "10 km"])
def test_words_with_digits_are_words(words):
    splits = table(columns(color=[words, "other"] * (ROWS // 2)), target="label")
    assert f"color={words}" in splits.encoder.features


@pytest.mark.parametrize("rows", [0, 1, 9])
def test_a_table_too_small_for_three_splits_is_refused(rows):
    source = {name: values[:rows] for name, values in columns().items()}
    with pytest.raises(InputError, match=f"at least 10 rows with a 'label', got {rows}; add"):
        table(source, target="label")
    labels = [*columns()["label"][:rows], *[""] * (ROWS - rows)]
    with pytest.raises(InputError, match=f"at least 10 rows with a 'label', got {rows}; add"):
        table(columns(label=labels), target="label")


def test_a_table_of_ten_rows_is_split():
    source = {name: values[:10] for name, values in columns().items()}
    splits = table(source, target="label")
    assert [len(part.y) for part in (splits.train, splits.validation, splits.test)] == [6, 2, 2]


def test_a_table_without_columns_is_refused():
    with pytest.raises(InputError, match="the table is empty"):
        table({}, target="label")


def test_rows_without_a_target_are_left_out_with_a_note():
    labels = columns()["label"]
    labels[5] = labels[6] = "?"
    splits = table(columns(label=labels), target="label")
    assert splits.remarks == ("2 of 60 rows were dropped: no 'label'",)
    assert sum(len(part.y) for part in (splits.train, splits.validation, splits.test)) == 58


@pytest.mark.parametrize(
    ("values", "classes"),
    [
        ([row % 3 for row in range(ROWS)], ("0", "1", "2")),
        ([float(row % 2) for row in range(ROWS)], ("0", "1")),
        ([8 + row % 3 for row in range(ROWS)], ("8", "9", "10")),
        ([row % 3 / 2 for row in range(ROWS)], ()),
        ([row % 30 for row in range(ROWS)], ()),
        ([f"1_{row % 2}" for row in range(ROWS)], ("1_0", "1_1")),
        (["1", "1.0", "2"] * 20, ("1", "2")),
        ([bool(row % 2) for row in range(ROWS)], ("False", "True")),
    ],
)
def test_words_and_few_whole_numbers_are_classes(values, classes):
    splits = table(columns(label=values), target="label")
    assert splits.classes == classes
    assert splits.train.y.dtype == (torch.int64 if classes else torch.float32)


def test_the_task_overrules_the_guess():
    assert table(columns(label=[row % 3 for row in range(ROWS)]), "label", task="regression")
    many = [row % 25 for row in range(ROWS)]
    assert len(table(columns(label=many), "label", task="classification").classes) == 25
    with pytest.raises(InputError, match="expected a finite number, got 'up'"):
        table(columns(), target="label", task="regression")


def test_a_rare_class_keeps_an_example_for_training():
    labels = ["once", "twice", "twice"] + ["often"] * 57
    for seed in range(5):
        splits = table(columns(label=labels), target="label", seed=seed)
        assert splits.train.y.unique().tolist() == [0, 1, 2]
        assert splits.remarks == ("classes with fewer than 3 examples: 'once' (1), 'twice' (2)",)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"number": [*range(59), "many"]}, "'number' holds numbers, but 'many' in row 60"),
        ({"number": ["1,234", "2,345"] * 30}, "'1,234' may be decimal or group thousands"),
        ({"number": ["1,5", "2.25"] * 30}, "'2.25' with a decimal point and '1,5' with a decimal"),
        ({"number": ["5 %", "2.25"] * 30}, "mixes no sign, '%'"),
        ({"number": ["$5", "€2.25"] * 30}, r"mixes '\$', '€'"),
        ({"number": ["$5", "$6", "$7", "$8", "$9", "on request"] * 10}, "'on request' in row 6, "),
        (
            {"number": [*range(59), "many"], "label": [*range(59), "few"]},
            "2 faults: column 'number' holds .* column 'label' holds",
        ),
        ({"number": [*range(59), "inf"]}, "expected a finite number, got 'inf'"),
        ({"label": [*range(59), "inf"]}, "row 60 below the header: expected a finite number"),
        ({"number": [1.0] * 59}, "expected columns of equal length"),
        ({"label": ["one"] * 60}, "has the same value in all rows"),
        ({"label": [f"name {row}" for row in range(60)]}, "looks like an identifier"),
        ({"label": [*range(59), "many"]}, "'label' holds numbers, but 'many'"),
    ],
)
def test_doubtful_columns_are_refused_by_name(changed, message):
    with pytest.raises(InputError, match=message):
        table(columns(**changed), target="label")


def test_an_unknown_target_offers_the_nearest_names():
    with pytest.raises(InputError, match=r"no column named 'lable'; did you mean label\?"):
        table(columns(), target="lable")


def test_a_table_needs_something_to_learn_from():
    with pytest.raises(InputError, match="besides the target"):
        table({"label": columns()["label"]}, target="label")
    with pytest.raises(InputError, match="got none; column 'id' was dropped: it numbers the rows"):
        table({"label": columns()["label"], "id": range(ROWS)}, target="label")
    with pytest.raises(InputError, match="got int"):
        table(3, target="label")


def test_fractions_that_leave_nothing_for_training_are_refused():
    with pytest.raises(InputError, match=r"cannot hold out 30 of 30 .* from 1 to 28"):
        table(columns(), "label", test_fraction=0.5, validation_fraction=0.5)


# The encoder


@given(st.lists(st.floats(-1e6, 1e6), min_size=3, max_size=20), st.sampled_from([0.0, 0.1, 1.0]))
def test_standardizing_keeps_the_order_and_is_undone_by_its_formula(values, log):
    texts = [str(value) for value in values]
    column = NumericColumn.fit("x", texts, log)
    if column is None:
        assert len(set(values)) == 1
        return
    z = column.encode(texts)[:, 0]
    x = z * column.std + column.mean
    expected = np.array(values)
    if log:
        x = np.sign(x) * log * np.expm1(np.abs(x))
    np.testing.assert_allclose(x, expected, rtol=1e-9, atol=1e-6)


def test_an_encoder_survives_json():
    splits = table(columns(same=[7] * ROWS, number=[None, *range(59)]), target="label")
    saved = json.loads(json.dumps(splits.encoder.to_json()))
    assert encoder_from_json(saved) == splits.encoder
    assert encoder_from_json(saved).remarks == splits.remarks != ()


def test_a_file_is_encoded_by_column_name_whatever_the_order(write):
    encoder = TableEncoder(
        (NumericColumn("a", 1.0, 2.0, 1.0), CategoricalColumn("b", ("x", "y"))), "c", ("n", "p")
    )
    path = write("c,extra,b,a\np,9,y,5\nn,9,x,1\n")
    assert encoder.encode_file(path).tolist() == [[2, 0, 1], [0, 1, 0]]
    assert encoder.encode_target(path).tolist() == [1, 0]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("b,c\nx,p\n", "table.csv: missing column 'a', which the training data had; got 'b', 'c'"),
        ("c,d\nx,p\n", "table.csv: missing columns 'a', 'b', which"),
        (
            "a,b\nword,x\n",
            "table.csv: column 'a', row 1 below the header: expected a finite number, got 'word'",
        ),
    ],
)
def test_rows_that_do_not_fit_the_encoder_are_refused(write, content, message):
    encoder = TableEncoder(
        (NumericColumn("a", 1.0, 2.0, 1.0), CategoricalColumn("b", ("x", "y"))), "c", ("n", "p")
    )
    with pytest.raises(InputError, match=message):
        encoder.encode_file(write(content))


def test_targets_that_do_not_fit_the_encoder_are_refused():
    encoder = TableEncoder((), "c", ("n", "p"))
    for values, message in [(["q"], "expected n, p, got 'q'"), ([""], "expected one in every row")]:
        with pytest.raises(InputError, match=message):
            encoder.encode_target({"c": values})
    with pytest.raises(InputError, match="missing column 'c'"):
        encoder.encode_target({"d": ["n"]})
