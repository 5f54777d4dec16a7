"""`chainrule runs`: what is told of run folders, and where two of them differ."""

import json
import shutil
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from chainrule.cli.main import main
from chainrule.console.tables import runs_table


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two finished runs, an interrupted one, one that never began, and two broken folders."""
    folder = tmp_path_factory.mktemp("place") / "runs"
    for name, rate in (("a", "0.01"), ("b", "0.02")):
        words = ["train", "moons-mlp", "--epochs", "2", "--num-samples", "60", "--quiet"]
        words += ["--no-pictures", "--learning-rate", rate, "--out", str(folder / name)]
        assert main(words) == 0
    shutil.copytree(folder / "a", folder / "stopped")
    (folder / "stopped" / "result.json").unlink()
    lines = (folder / "stopped" / "metrics.jsonl").read_text().splitlines()
    (folder / "stopped" / "metrics.jsonl").write_text(lines[0] + '\n{"epo')
    shutil.copytree(folder / "stopped", folder / "fresh")
    (folder / "fresh" / "metrics.jsonl").unlink()
    for name, content in (("torn", "{"), ("odd", '{"recipe": "moons-mlp"}')):
        (folder / name).mkdir()
        (folder / name / "config.json").write_text(content)
    (folder / "lr").mkdir()
    return folder.parent


@pytest.fixture(autouse=True)
def here(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)
    monkeypatch.setenv("COLUMNS", "80")


def test_runs_are_listed_and_broken_folders_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["runs", "--json"]) == 0
    shown = capsys.readouterr()
    found = {run["name"]: run for run in json.loads(shown.out)["runs"]}
    assert set(found) == {"runs/a", "runs/b", "runs/stopped", "runs/fresh"}
    states = [found[f"runs/{name}"]["state"] for name in ("a", "stopped", "fresh")]
    assert states == ["finished", "epoch 1 of 2", "not started"]
    result = json.loads(Path("runs/a/result.json").read_text())
    assert found["runs/a"]["metric"] == "test error"
    assert found["runs/a"]["value"] == result["metrics"]["test"]["error"]
    assert found["runs/a"]["seconds"] == result["seconds"]
    assert found["runs/stopped"]["metric"] == "validation error"
    told = " ".join(shown.err.split())
    assert told.count("skipped: ") == 2
    assert "runs/torn/config.json is damaged, it holds no valid JSON" in told
    assert 'runs/odd/config.json is damaged: "settings" is missing' in told


def test_the_table_fits_80_columns(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["runs", "runs/a", "runs/stopped"]) == 0
    text = capsys.readouterr().out
    assert max(map(len, text.splitlines())) <= 80
    row = next(line for line in text.splitlines() if "runs/a" in line)
    assert "finished" in row and "moons-mlp" in row


def test_no_column_is_cut_off_by_long_names_and_states() -> None:
    long = {
        "name": "runs/shakespeare-language-model-12",
        "recipe": "shakespeare-language-model",
        "state": "epoch 1234 of 10000",
        "metric": "validation perplexity",
        "value": 12.3456,
        "seconds": 12345.6,
        "date": "2026-11-18 07:00",
    }
    out = Console(width=80, record=True, file=StringIO())
    out.print(runs_table([long], lambda _, value: f"{value:.4f}"))
    text = out.export_text()
    for whole in ("12345.6", "2026-11-18", "12.3456"):
        assert whole in text
    columns = [line.split() for line in text.splitlines()]
    assert ["run", "recipe", "state", "metric", "seconds", "begun"] in columns
    assert "…" not in text


def test_two_runs_are_compared(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["runs", "runs/a", "runs/b", "--compare", "--out", "both.png"]) == 0
    text = capsys.readouterr().out
    rows = [line.split() for line in text.splitlines()]
    assert ["learning", "rate", "0.01", "0.02"] in rows
    assert not any("batch" in row for row in rows)
    assert Path("both.png").read_bytes().startswith(b"\x89PNG")
    assert main(["runs", "runs/a", "runs/b", "--compare", "--json", "--out", "both.png"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["runs"] == ["runs/a", "runs/b"]
    assert found["settings"] == {"learning_rate": [0.01, 0.02]}
    assert found["picture"] == "both.png"
    test = [json.loads(Path(f"runs/{n}/result.json").read_text())["metrics"]["test"] for n in "ab"]
    assert found["metrics"]["test loss"] == [metrics["loss"] for metrics in test]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("runs nowhere", "there is no folder nowhere"),
        ("runs runs/torn", "there are no readable runs in runs/torn"),
        ("runs runs/a --compare", "--compare needs two runs or more"),
    ],
)
def test_what_cannot_be_listed_is_refused(
    words: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words.split()) == 2
    assert told in capsys.readouterr().err
