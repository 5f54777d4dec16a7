"""Near violations: listed without being run, measured by the lab, detected or not."""

import json
from pathlib import Path

import pytest

from chainrule.cli.main import main
from chainrule.errors import InputError
from chainrule.lab import check
from chainrule.lab import runner as running
from chainrule.lab.claim import ten_percent
from chainrule.registry import find
from tests.lab.test_result import OWN

NEAR = '''

def near() -> dict:
    """Almost two."""
    return {"factor 2.2": lambda: check(factor=2.2), "one number": lambda: check(1, 2.2)}
'''
BLIND = NEAR.replace("2.2)", "2.0)")


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A claim of one's own; it detects one of its two near violations."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    path = tmp_path / "my_claim.py"
    path.write_text(OWN + NEAR, "utf-8")
    return path


def test_near_violations_are_listed_at_once_and_run_when_looked_up(own: Path) -> None:
    near = check(str(own)).near
    assert list(near) == ["factor 2.2", "one number"] and len(near) == 2
    assert repr(near) == "near violations of my-claim: factor 2.2, one number"
    assert not near["factor 2.2"].holds and near["one number"].holds
    assert near["factor 2.2"] is near["factor 2.2"]
    assert repr(near["factor 2.2"]).startswith("my-claim, factor 2.2 FAILS: largest difference")
    assert near["factor 2.2"].plot().axes[0].get_title(loc="left") == "Violated: Doubling"
    with pytest.raises(KeyError):
        _ = near["factor 3"]
    with pytest.raises(InputError, match="already a violation of my-claim"):
        _ = near["one number"].near


def test_a_claim_without_near_violations_has_none(own: Path) -> None:
    own.write_text(OWN, "utf-8")
    assert dict(check(str(own)).near) == {}


def test_ten_percent_is_given_both_factors() -> None:
    given: list[float] = []
    found = ten_percent("γ", given.append)  # type: ignore[arg-type, func-returns-value]
    assert list(found) == ["γ × 0.9", "γ × 1.1"] and given == []
    for measure in found.values():
        measure()
    assert given == [0.9, 1.1]


def test_mutate_prints_what_was_detected(own: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lab", "./my_claim.py", "--mutate", "--number", "9"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    rows = {line.strip().split("  ")[0]: line.split()[-1] for line in lines if line.strip()}
    assert rows["factor 2.2"] == "yes" and rows["one number"] == "NO"
    assert "as stated" in rows
    assert lines[-1] == "1 of 2 near violations detected"


def test_mutate_as_json(own: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lab", "./my_claim.py", "--mutate", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["my-claim"]
    assert found["holds"]
    assert found["near"]["factor 2.2"] == {
        "measured": pytest.approx(0.4),
        "relation": "=",
        "bound": 0,
        "failed": [],
        "detected": True,
    }
    assert not found["near"]["one number"]["detected"]


def test_a_claim_that_detects_nothing_gives_exit_code_1(
    own: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own.write_text(OWN + BLIND, "utf-8")
    assert main(["lab", "./my_claim.py", "--mutate"]) == 1
    assert main(["lab", "./my_claim.py", "xor", "--mutate"]) == 1
    assert "NO" in capsys.readouterr().out


def test_a_condition_that_detects_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lab", "backward-cost", "novikoff", "--mutate"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "not: MLPs match 2 - first layer / all layers" in text


def test_processes_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    claims = [find("claims", name) for name in ("xor", "adam-first-step")]
    here = list(running.mutate_many(claims))
    monkeypatch.setattr(running, "WORTH_PROCESSES", 1)
    assert list(running.mutate_many(claims)) == here


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["./my_claim.py"], "my-claim defines no function near; add one that names violations"),
        (["xor", "--broken"], "give --mutate or --broken, not both"),
        (
            ["xor", "novikoff", "--seeds", "2"],
            "--seeds does not go with --mutate: near violations choose their own",
        ),
    ],
)
def test_errors_are_one_clear_line(
    own: Path, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    own.write_text(OWN, "utf-8")
    assert main(["lab", *arguments, "--mutate"]) == 2
    assert capsys.readouterr().err.strip() == f"chainrule: {message}"
