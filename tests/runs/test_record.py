"""Recorded results: one entry per seed, one set of settings per file, no path of a machine."""

import json
from pathlib import Path

import pytest

from chainrule.cli.train import repeatable
from chainrule.errors import InputError
from chainrule.runs import record as recording


def result(seed: int, error: float, **settings: object) -> dict:
    return {
        "recipe": "toy",
        "seed": seed,
        "epochs": 1,
        "stopped": "all epochs done",
        "metrics": {"test": {"loss": 1.0, "error": error}},
        "compared": {"other": {"test": {"loss": 1.0, "error": 0.5}}},
        "published": [{"metric": "test error", "value": 0.1, "source": "a book"}],
        "parameters": 3,
        "seconds": 2.0,
        "settings": {"seed": seed, **settings},
        "versions": {},
    }


@pytest.fixture(autouse=True)
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "benchmarks" / "results").mkdir(parents=True)
    return tmp_path


def test_seeds_are_averaged_and_a_repeated_seed_replaces_its_entry() -> None:
    for seed, error in ((0, 0.5), (1, 0.04), (0, 0.02)):
        path = recording.record(result(seed, error), f"chainrule train toy --seed {seed}")
    assert [run["seed"] for run in recording.load(path)] == [0, 1]
    table = recording.markdown()
    assert "| `toy` | test error 3.00 ± 1.41 % | 10.00 % (a book) | 2 | 2 s |" in table
    assert "| – other | test error 50.00 ± 0.00 % | – | 2 | |" in table


def test_a_method_measured_otherwise_shows_all_its_figures() -> None:
    compared = {"elman": {"test": {"length 1: error": 0.02, "length 9: error": 0.5}}}
    recording.record(result(0, 0.5) | {"compared": compared}, "chainrule train toy")
    line = "| – elman | length 1: error 2.00 %, length 9: error 50.00 % | – | 1 | |"
    assert line in recording.markdown()


def test_other_settings_start_the_file_anew() -> None:
    recording.record(result(0, 0.5, hidden_size=4), "chainrule train toy")
    path = recording.record(
        result(1, 0.1, hidden_size=8), "chainrule train toy --hidden-size 8 --seed 1"
    )
    assert [run["seed"] for run in recording.load(path)] == [1]


def test_a_setting_that_came_later_has_its_default_in_older_runs() -> None:
    defaults = {"seed": 0, "processes": 1, "hidden": (64, 32)}
    recording.record(result(0, 0.5, hidden=[8]), "chainrule train toy --hidden 8")
    for seed, processes, kept in ((1, 1, [0, 1]), (2, 2, [2])):
        found = result(seed, 0.1, hidden=(8,), processes=processes)
        path = recording.record(found, "chainrule train toy", defaults)
        assert [run["seed"] for run in recording.load(path)] == kept


def test_the_seeds_of_a_recipe_with_layers_are_kept_together() -> None:
    """In memory a setting of several values is a tuple, in the file a list."""
    for seed in (0, 1):
        path = recording.record(result(seed, 0.5, hidden=(64, 32)), "chainrule train toy")
    assert [run["seed"] for run in recording.load(path)] == [0, 1]


def test_a_metric_that_is_not_defined_is_recorded_as_null() -> None:
    found = result(0, 0.5) | {"metrics": {"test": {"error": 0.5, "auc": float("nan")}}}
    text = recording.record(found, "chainrule train toy").read_text("utf-8")
    assert '"auc": null' in text and "NaN" not in text


def test_paths_are_kept_as_seen_from_the_checkout(checkout: Path) -> None:
    path = recording.record(result(0, 0.5, teacher=f"{checkout}/runs/big"), "chainrule train toy")
    assert recording.load(path)[0]["settings"]["teacher"] == "runs/big"
    assert str(checkout) not in json.dumps(recording.load(path))


def test_recording_needs_a_checkout(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    with pytest.raises(InputError, match="run it in the root of a checkout"):
        recording.check_folder()


def test_a_recorded_command_names_no_folder_of_the_machine() -> None:
    given = ["toy", "--out", "/somewhere/else", "--seed", "1", "--record", "--data", "/my/data"]
    assert repeatable(given) == ["toy", "--seed", "1"]
    assert repeatable(["toy", "--out", "runs/kept"]) == ["toy", "--out", "runs/kept"]
