"""Recipes on data that stay on the disk: trained, resumed, used again, and refused."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from chainrule.cli.main import main
from chainrule.data.readers.texts import long_text
from chainrule.runs.run import Run

pandas = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    draw = np.random.default_rng(0)
    x = draw.normal(size=(600, 2))
    table = pandas.DataFrame(
        {"a": x[:, 0], "b": x[:, 1], "y": np.where(x.sum(1) > 0, "up", "down")}
    )
    table.to_parquet("table.parquet", row_group_size=100, index=False)
    table.drop(columns="y").head(5).to_csv("new.csv", index=False)
    return tmp_path


TRAIN = "train mlp --table table.parquet --target y --out-of-core --hidden 8 --quiet --no-pictures"


def test_a_parquet_file_is_trained_on_from_the_shell(folder: Path) -> None:
    assert main([*TRAIN.split(), "--epochs", "30", "--learning-rate", "0.01", "--out", "run"]) == 0
    run = Run.load("run")
    assert run.result["metrics"]["test"]["accuracy"] > 0.9
    assert run.result["examples"] == {"train": 360, "validation": 120, "test": 120}
    assert "360 training rows stay on the disk, in 6 row groups" in run.result["remarks"][0]
    assert run.evaluate()["test"] == run.result["metrics"]["test"]
    assert {answer["prediction"] for answer in run.predict("new.csv")} <= {"up", "down"}


def test_an_interrupted_run_goes_on_to_the_same_weights(folder: Path) -> None:
    for name in ("straight", "broken"):
        assert main([*TRAIN.split(), "--epochs", "2", "--out", name]) == 0
    (folder / "broken" / "model.safetensors").unlink()
    (folder / "broken" / "result.json").unlink()
    assert main(["resume", "broken", "--quiet"]) == 0
    found = [Run.load(name).model.state_dict() for name in ("straight", "broken")]
    assert all(torch.equal(found[0][name], found[1][name]) for name in found[0])


def test_a_long_text_is_trained_on_from_the_shell(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(long_text, "LONG", 0)
    Path("text.txt").write_text("the quick brown fox jumps over the lazy dog. " * 30)
    sizes = "--hidden-size 16 --num-layers 1 --num-heads 2 --context-length 16 --epoch-steps 5"
    command = f"train gpt --text text.txt {sizes} --epochs 1 --quiet --out run"
    assert main(command.split()) == 0
    run = Run.load("run")
    assert run.evaluate()["test"]["loss"] == run.result["metrics"]["test"]["loss"]
    assert len(run.generate("the ", 20)) > 4


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ("--decimal ,", "--decimal cannot be used with a table that is read part by part"),
        ("--members 2", "--members cannot be used here: the rows are on the disk"),
        ("--class-weights balanced", "--class-weights cannot be used here: the labels are not"),
    ],
)
def test_what_needs_all_rows_in_memory_is_refused(
    folder: Path, refusal: Callable[[str], str], flags: str, words: str
) -> None:
    assert words in refusal(f"{TRAIN} {flags} --out new")
    assert not Path("new").exists()


def test_settings_are_not_searched_on_a_part_of_the_rows(
    folder: Path, refusal: Callable[[str], str]
) -> None:
    command = "tune mlp --table table.parquet --target y --out-of-core --trials 2"
    assert "with all rows in memory" in refusal(command)
    assert main(f"lr {TRAIN.removeprefix('train ').split(' --hidden')[0]}".split()) == 0
