"""`chainrule bench`: inside a checkout and outside."""

from pathlib import Path

import pytest

from chainrule.cli.main import main

ROOT = Path(__file__).parents[2]


@pytest.fixture
def checkout(monkeypatch):
    monkeypatch.chdir(ROOT)


def test_rows_are_listed(checkout, capsys):
    assert main(["bench", "--list"]) == 0
    assert "mlp" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["resnet2"], "there is no row named 'resnet2'; did you mean resnet20?"),
        (["mlp", "--limit", "0"], "--limit must be above 0 seconds, got 0"),
        (["mlp", "--record", "--quick"], "--record takes whole rows"),
        (
            ["mlp", "--against", "src"],
            "--against must be another checkout of this project, got src",
        ),
        (["mlp", "--compare", "README.md"], "--compare expects a record of the suite"),
        (["mlp", "--cases", "huge"], "row mlp has no case with huge; known: tiny"),
    ],
)
def test_what_cannot_be_measured_is_refused(checkout, capsys, words, told):
    assert main(["bench", *words]) == 2
    assert told in capsys.readouterr().err


def test_outside_a_checkout_one_sentence_says_what_is_needed(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["bench"]) == 2
    assert "which is not here; run it in the root of a checkout" in capsys.readouterr().err
