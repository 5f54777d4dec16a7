"""Values from JSON: every fault names the key, what was expected and what came."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chainrule.data import encoder_from_json
from chainrule.data.readers.encoders import ImageEncoder, VectorEncoder
from chainrule.data.readers.graphs.edge_table import EdgeEncoder
from chainrule.data.readers.graphs.node_encoder import NodeEncoder
from chainrule.data.readers.images.photos import PhotoEncoder
from chainrule.data.readers.points.point_encoders import DrawingEncoder, PointEncoder
from chainrule.data.readers.tables.column_encodings import CategoricalColumn, NumericColumn
from chainrule.data.readers.tables.table_encoder import TableEncoder
from chainrule.data.state import FLAG, NAMES, NUMBER, TEXT, TEXTS, fields, optional, shown, whole
from chainrule.data.text.encoders import BagEncoder, PairEncoder, TokenEncoder
from chainrule.data.text.vocabulary import character_vocabulary, word_vocabulary
from chainrule.data.text.wordpiece import SPECIAL, WordPiece
from chainrule.errors import InputError

WORDS = word_vocabulary([["a", "dog"]])
ENCODERS = [
    ImageEncoder(8, margin=0.1),
    PhotoEncoder(8, resize="pad"),
    VectorEncoder(("a", "b")),
    PointEncoder(8, 4),
    DrawingEncoder(8, 28, 0.1),
    NodeEncoder("nodes.csv", "edges.csv", "id", "0", None, EdgeEncoder()),
    TableEncoder((NumericColumn("a", 0.0, 1.0, 0.0), CategoricalColumn("b", ("x", "y"))), "c"),
    WORDS,
    character_vocabulary("abc"),
    TokenEncoder(WORDS, 8),
    BagEncoder(WORDS, 8),
    PairEncoder(WORDS, WORDS),
    WordPiece((*SPECIAL, "a"), 8),
]
WRITTEN = [json.dumps(encoder.to_json()) for encoder in ENCODERS]
VALUES = [
    *(None, True, -1, 0, 2, 1.5, 1e308, float("nan"), float("inf"), 10**400, "", "x", "\ud800"),
    *([], [1], ["a", "a"], [["a"]], {}, {"kind": "bag"}),
]


def states() -> st.SearchStrategy[dict]:
    """What an encoder writes, with one value replaced or taken away."""
    return st.builds(
        mutated, st.sampled_from(WRITTEN), st.integers(0), st.sampled_from(VALUES), st.booleans()
    )


def mutated(written: str, place: int, value: object, away: bool) -> dict:
    state = json.loads(written)
    places = list(parts_of(state))
    parent, key = places[place % len(places)]
    parent[key] = value
    if away:
        del parent[key]
    return state


def parts_of(value):
    """(parent, key) of everything inside."""
    keys = value if isinstance(value, dict) else range(len(value))
    for key in keys:
        yield value, key
        if isinstance(value[key], dict | list):
            yield from parts_of(value[key])


@given(states())
def test_a_changed_encoder_is_restored_or_refused_in_one_line(state):
    try:
        encoder_from_json(state)
    except InputError as error:
        text = str(error)
        assert "\n" not in text and len(text) < 400
        text.encode()


@pytest.mark.parametrize("encoder", ENCODERS, ids=lambda encoder: type(encoder).__name__)
def test_an_encoder_is_restored_with_and_without_a_file_between(encoder):
    state = encoder.to_json()
    assert encoder_from_json(state) == encoder == encoder_from_json(json.loads(json.dumps(state)))


@pytest.mark.parametrize("state", [None, 1, "x", [], {}, {"kind": 1}, {"kind": ["table"]}])
def test_what_is_no_encoder_is_refused(state):
    with pytest.raises(InputError, match="the encoder"):
        encoder_from_json(state)


def test_a_fault_names_key_expected_and_got():
    good = {"count": 3, "name": "x"}
    assert fields(good, "the thing", count=whole(1, 5), name=TEXT) == good
    with pytest.raises(
        InputError, match=r"^expected a whole number from 1 to 2 as 'count' of the thing, got 3$"
    ):
        fields(good, "the thing", count=whole(1, 2))
    with pytest.raises(InputError, match=r"^expected a text as 'other' of the thing, got nothing$"):
        fields(good, "the thing", other=TEXT)
    with pytest.raises(InputError, match=r"^expected the thing to be an object, got a list with 1"):
        fields([good], "the thing", count=TEXT)


def test_an_optional_value_may_be_absent_or_null_but_not_wrong():
    assert fields({}, "it", a=optional(TEXT)) == fields({"a": None}, "it", a=optional(TEXT)) == {}
    with pytest.raises(InputError, match="as 'a' of it, got 1"):
        fields({"a": 1}, "it", a=optional(TEXT))


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (whole(0, 9), True),
        (whole(0, 9), 1.0),
        (NUMBER, float("nan")),
        pytest.param(NUMBER, 10**400, id="huge"),
        (TEXT, "\udfff"),
        (TEXTS, ["a", None]),
        (NAMES, []),
        (FLAG, 1),
    ],
)
def test_kinds_are_strict(kind, value):
    assert not kind.holds(value)


def test_values_are_shown_short_and_printable():
    assert shown([[1]] * 5) == "a list with 5 values"
    assert shown(10**1000) == "a huge number"
    assert len(shown("x" * 1000)) < 70
    assert shown("\ud800") == "'\\ud800'"
