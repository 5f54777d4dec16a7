"""A verdict follows from its numbers; the arguments of a claim become flags with help."""

import math
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path

import pytest
from rich.console import Console

from chainrule.console.tables import side_by_side, verdict_table
from chainrule.errors import InputError
from chainrule.lab.claim import Picture, Verdict, help_of, settings_of, validate
from chainrule.registry import entry_from_file, find

PICTURE = Picture("title", "x", "y", points={"p": ([0.0], [1.0])})


def verdict(
    measured: float, relation: str, bound: float, conditions: Mapping[str, bool] | None = None
) -> Verdict:
    return Verdict("largest error", measured, relation, bound, PICTURE, conditions or {})


@pytest.mark.parametrize(
    ("relation", "below", "equal", "above"),
    [
        ("≤", True, True, False),
        ("<", True, False, False),
        ("≥", False, True, True),
        (">", False, False, True),
        ("=", False, True, False),
    ],
)
def test_the_printed_numbers_decide(relation: str, below: bool, equal: bool, above: bool) -> None:
    found = [verdict(measured, relation, 1.0).holds for measured in (0.5, 1.0, 2.0)]
    assert found == [below, equal, above]
    assert not verdict(math.nan, relation, 1.0).holds


def test_every_condition_must_be_true() -> None:
    assert verdict(0.0, "≤", 1.0, {"a": True}).holds
    assert not verdict(0.0, "≤", 1.0, {"a": True, "b": False}).holds
    assert verdict(0.0, "≤", 1.0, {"a": False}).to_json()["holds"] is False


def test_an_unknown_relation_is_refused() -> None:
    with pytest.raises(InputError, match="relation must be one of ≤, <, ≥, >, =, got '<='"):
        verdict(0.0, "<=", 1.0)


def printed(found: dict[str, object]) -> str:
    console = Console(record=True, width=80, file=None, quiet=False)
    with console.capture() as capture:
        console.print(verdict_table({"weisfeiler-leman-pairs": found}))
    return capture.get()


def test_the_table_shows_measured_value_and_bound_in_80_columns() -> None:
    text = printed(verdict(1.2345e-16, "≤", 1e-12).to_json())
    assert all(len(line) <= 80 for line in text.splitlines())
    line = next(line for line in text.splitlines() if "1.234e-16" in line)
    assert "≤ 1e-12" in line
    assert line.rstrip().endswith("holds")


@pytest.mark.parametrize(
    ("measured", "bound", "shown"),
    [
        (0.5, 1.0, ["0.5", "1"]),
        (1.0, 1.0, ["1", "1"]),
        (1 - 2e-13, 1.0, ["1 - 2e-13", "1"]),
        (1.0, 1 + 1e-12, ["1", "1 + 1e-12"]),
        (math.nan, 1.0, ["–", "1"]),
        (math.inf, 1.0, ["inf", "1"]),
    ],
)
def test_numbers_that_differ_look_different(
    measured: float, bound: float, shown: list[str]
) -> None:
    assert side_by_side(measured, bound) == shown


def test_the_table_says_which_condition_failed_and_for_which_seeds() -> None:
    found = verdict(0.0, "≤", 1.0, {"sums agree": False, "signs agree": True}).to_json()
    text = printed(found | {"seeds": 20, "failed": [0, 7]})
    assert "FAILS" in text
    assert "not: sums agree" in text
    assert "signs agree" not in text
    assert "fails for seeds 0, 7" in " ".join(text.split())
    assert "seeds" not in printed(found | {"seeds": 1, "failed": [0]})


def test_arguments_become_fields_with_help() -> None:
    entry = find("claims", "novikoff")
    settings = settings_of(entry)
    assert [f.name for f in fields(settings)] == ["trials", "examples", "seed"]
    assert settings().trials == 100
    assert help_of(entry)["trials"] == "Random separable data sets."
    assert "trials: Random separable data sets." in (settings.__doc__ or "")


def test_help_goes_on_in_the_next_line(tmp_path: Path) -> None:
    path = tmp_path / "long_help.py"
    path.write_text(
        '"""Claim: x."""\n\n\ndef check(a: int = 1, b: int = 2):\n'
        '    """Text.\n\n    Args:\n'
        "        a: One\n            and more.\n"
        '        b: Two.\n    """\n'
    )
    assert help_of(entry_from_file("claims", path)) == {
        "seed": "Seed of everything random.",
        "a": "One and more.",
        "b": "Two.",
    }


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"trails": 5}, "there is no argument of novikoff named 'trails'; did you mean trials?"),
        ({"trials": 0}, "`trials` must be at least 1, got 0"),
        ({"trials": "5"}, "`trials` must be of type int, got '5'"),
        ({"trials": 2.5}, "`trials` must be of type int, got 2.5"),
        ({"trials": True}, "`trials` must be of type int, got True"),
    ],
)
def test_wrong_arguments_are_refused(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(InputError) as caught:
        validate(find("claims", "novikoff"), arguments)
    assert str(caught.value) == message


def test_a_seed_may_be_zero_and_a_float_may_be_whole() -> None:
    validate(find("claims", "novikoff"), {"seed": 0})
    validate(find("claims", "double-descent"), {"noise": 1})
