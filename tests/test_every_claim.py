"""The contract of a claim file: it holds, it can fail, and it says why."""

import inspect
import json
import re
from pathlib import Path

import pytest

from chainrule.lab.claim import Verdict, help_of, near_of, parameters_of
from chainrule.lab.runner import check_and_draw
from chainrule.registry import Entry, entries

CLAIMS = entries("claims")
RECORD = Path(__file__).parents[1] / "benchmarks" / "lab_mutations.json"
LONGEST_NAME = 36  # letters of a near violation
every_claim = pytest.mark.parametrize("entry", CLAIMS, ids=lambda entry: entry.name)


def test_the_folder_holds_claims() -> None:
    assert {"novikoff", "hopfield-energy", "backpropagation", "xor"} <= {e.name for e in CLAIMS}


@every_claim
def test_it_states_claim_measurement_bound_and_place(entry: Entry) -> None:
    text = entry.docstring
    assert text.startswith("Claim: ")
    assert "Measured:" in text
    assert "Bound:" in text
    assert re.search(r"\b[JAL] \d|exercise 10\.", text), "where in the notes"
    assert re.search(r"^    .*[=≤⇒]", text, re.MULTILINE), "an equation"


@every_claim
def test_every_argument_has_help(entry: Entry) -> None:
    """Of its own, but for `seed`, which means the same everywhere."""
    arguments = {parameter.name for parameter in parameters_of(entry)}
    assert arguments | {"seed"} == set(help_of(entry))


@every_claim
def test_it_holds_and_draws_its_picture(entry: Entry, tmp_path: Path) -> None:
    verdict = check_and_draw(entry, {}, tmp_path)
    assert verdict["holds"], verdict
    for suffix in ("png", "svg"):
        assert (tmp_path / f"{entry.name}.{suffix}").stat().st_size > 5_000
    assert json.loads(json.dumps(verdict))["statement"].startswith("Claim")


@every_claim
def test_it_fails_when_its_hypothesis_is_broken(entry: Entry) -> None:
    verdict: Verdict = entry.load().broken()
    assert not verdict.holds


@pytest.mark.parametrize("entry", [e for e in CLAIMS if near_of(e)], ids=lambda entry: entry.name)
def test_it_detects_a_near_violation(entry: Entry) -> None:
    near = near_of(entry)
    assert all(0 < len(name) <= LONGEST_NAME for name in near), "for a table of 80 columns"
    assert inspect.getdoc(entry.load().near), "what is violated"
    assert any(not measure().holds for measure in near.values())


def test_the_record_of_near_violations_is_that_of_these_claims() -> None:
    """Written by `python benchmarks/lab.py`."""
    record = json.loads(RECORD.read_text("utf-8"))
    recorded = {name: list(found["near"]) for name, found in record["table"].items()}
    defined = {entry.name: list(near) for entry in CLAIMS if (near := near_of(entry))}
    assert recorded == defined
    rows = [row for found in record["table"].values() for row in found["near"].values()]
    assert record["claims"] == len(recorded) and record["violations"] == len(rows)
    assert record["detected"] == sum(row["detected"] for row in rows)


@every_claim
def test_another_seed_raises_no_false_alarm(entry: Entry) -> None:
    """`chainrule lab --all --seeds 20` tries twenty."""
    check = entry.load().check
    if "seed" not in check.__annotations__:
        pytest.skip("nothing random in this claim")
    assert check(seed=1).holds
