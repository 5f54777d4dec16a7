"""`train`, `lr`, `distill` and `resume` as a user types them."""

import json
import math
import re
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from chainrule.cli.main import main
from chainrule.console import output
from chainrule.errors import InputError
from chainrule.registry import find
from chainrule.runs.configuration import configure
from chainrule.runs.execute import fit
from chainrule.runs.run import build


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(list(words)) == 0
    return capsys.readouterr().out


def test_train_prints_a_table_of_80_columns_and_numbers_its_runs(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for _ in range(2):
        text = printed(capsys, "train", "moons-mlp", "--epochs", "1", "--num-samples", "100")
    assert "validation" in text
    assert max(map(len, text.splitlines())) <= 80
    assert sorted(path.name for path in Path("runs").iterdir()) == ["moons-mlp-1", "moons-mlp-2"]


def test_learning_rates_are_tried_and_drawn(capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(printed(capsys, "lr", "moons-mlp", "--steps", "60", "--json"))
    assert 1e-4 < found["suggestion"] < 1
    assert found["rates"] == sorted(found["rates"])
    assert Path("runs/lr/moons-mlp.png").exists()
    assert main(["lr", "hopfield-digits"]) == 2
    reason = "hopfield-digits does not support the learning-rate finder: it stores patterns"
    assert reason in capsys.readouterr().err


SMALL = "--num-layers 1 --hidden-size 8 --num-heads 2 --batch-size 2"


@pytest.mark.parametrize(
    "words",
    [
        "karate-gcn",
        f"gpt --text my.txt --context-length 8 {SMALL}",
        "cora-gcn",
        f"shakespeare-gpt --context-length 8 {SMALL}",
        f"multi30k-transformer --feedforward-size 8 {SMALL}",
    ],
)
def test_learning_rates_are_tried_on_graphs_texts_and_translations(
    words: str, capsys: pytest.CaptureFixture[str], request: pytest.FixtureRequest
) -> None:
    Path("my.txt").write_text("to be or not to be, that is the question. " * 30)
    name, *flags = words.split()
    if name not in ("karate-gcn", "gpt"):
        flags += ["--data", str(request.getfixturevalue("big_data"))]
    found = json.loads(printed(capsys, "lr", name, "--steps", "4", "--json", *flags))
    assert len(found["rates"]) >= 2
    assert all(map(math.isfinite, found["losses"]))
    assert Path(f"runs/lr/{name}.png").exists()


def test_a_recipe_of_ones_own_is_trained_without_pictures(
    my_recipe: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["train", str(my_recipe), "--units", "3", "--out", "run", "--json", "--no-pictures"]
    result = json.loads(printed(capsys, *words))
    assert (result["settings"]["units"], result["epochs"]) == (3, 2)
    assert not list(Path("run").glob("*.png"))
    Path("new.csv").write_text("x1,x2\n0,1\n")
    assert "new.csv" in printed(capsys, "predict", "run", "new.csv")
    assert main(["train", str(my_recipe), "--out", "drawn", "--quiet"]) == 0
    assert list(Path("drawn").glob("*.png"))


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("x = 1\n", "yours.py is no recipe: it must define class Recipe"),
        ("class Recipe(BaseRecipe:\n", "yours.py, line 1: "),
        (None, "there is no file yours.py; expected a Python file that defines a recipe"),
    ],
)
def test_a_file_that_is_no_recipe_is_refused(
    content: str | None, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if content is not None:
        Path("yours.py").write_text(content)
    assert main(["train", "yours.py"]) == 2
    assert told in capsys.readouterr().err


def test_progress_says_what_is_training_and_what_is_validation(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output, "LINE_EVERY", 0.0)
    assert (
        main(["train", "moons-mlp", "--epochs", "2", "--num-samples", "60", "--no-pictures"]) == 0
    )
    lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("epoch")]
    assert len(lines) == 2
    form = r"epoch \d/2  training loss \d\.\d{4}  validation error \d+\.\d\d %"
    assert all(re.fullmatch(form, line) for line in lines)


def test_a_student_learns_from_a_run_and_members_learn_together(
    capsys: pytest.CaptureFixture[str],
) -> None:
    short = ["--epochs", "8", "--json"]
    flags = ["train", "digits-mlp", "--members", "3", "--out", "teacher", *short]
    crowd = json.loads(printed(capsys, *flags))
    alone = crowd["compared"]["mean of its members"]["test"]
    assert crowd["metrics"]["test"]["loss"] < alone["loss"]
    assert crowd["parameters"] == 3 * 9_610
    flags = ["distill", "teacher", "digits-mlp", "--hidden", "64", "--out", "student", *short]
    student = json.loads(printed(capsys, *flags))
    assert student["metrics"]["test"]["error"] < 0.5
    assert student["settings"]["teacher"].endswith("/teacher")
    again = json.loads(printed(capsys, "evaluate", "teacher", "--json"))
    assert again["metrics"] == crowd["metrics"]


def test_members_on_another_device_are_refused_not_moved() -> None:
    configuration = configure(find("recipes", "digits-mlp").load().Recipe, {"members": 2})
    recipe = configuration.recipe
    data = recipe.data(None)
    model = build(configuration, recipe.summarize(data))
    with pytest.raises(InputError, match="`members` train on the CPU; leave out `device` cuda"):
        fit(configuration, model, data, None, "cuda")


def test_a_run_may_begin_with_anothers_weights_and_keep_some(
    capsys: pytest.CaptureFixture[str],
) -> None:
    short = ["--epochs", "2", "--json"]
    printed(capsys, "train", "digits-mlp", "--out", "first", *short)
    flags = ["--from", "first", "--freeze", "layers.0.*", "--seed", "5", "--out", "second"]
    printed(capsys, "train", "digits-mlp", *flags, *short)
    one, two = (load_file(f"{run}/model.safetensors") for run in ("first", "second"))
    assert torch.equal(one["layers.0.weight"], two["layers.0.weight"])
    assert not torch.equal(one["layers.1.weight"], two["layers.1.weight"])
    assert main(["train", "digits-mlp", "--freeze", "head.*", "--out", "third"]) == 2
    assert "matches none of: layers.0.weight" in capsys.readouterr().err


def test_resume_of_a_finished_run_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    printed(capsys, "train", "xor-mlp", "--epochs", "1", "--num-samples", "100", "--out", "run")
    assert main(["resume", "run"]) == 0
    assert "already finished" in capsys.readouterr().err
