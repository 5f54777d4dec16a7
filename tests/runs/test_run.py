"""A run from Python: create, train, load, predict, generate, evaluate, plot; one's own recipe."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from PIL import Image

from chainrule.errors import InputError
from chainrule.registry import entry_from_file, find
from chainrule.runs.configuration import configure
from chainrule.runs.run import Run

TrainRun = Callable[..., Run]
QUICK = {"epochs": 2, "batch_size": 64}
OWN = '''"""My digits."""

from dataclasses import dataclass

from chainrule.data.datasets import digits
from chainrule.models.feedforward import MLP
from chainrule.runs.recipe import BaseRecipe
from chainrule.training import Settings


@dataclass(frozen=True, kw_only=True)
class Recipe(BaseRecipe):
    """64 pixels to 10 digits."""

    width: int = 8
    """Hidden units."""
    settings: Settings = Settings(epochs=1)

    def data(self, folder):
        return digits.load(folder, self.seed)

    def model(self, summary):
        return MLP(summary.inputs, [self.width], summary.outputs)
'''


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    """Numbers and words; the class is whether a is large. Kept beside as CSV."""
    a = np.arange(60) % 10
    frame = pd.DataFrame({"a": a, "b": ["u", "v", "w"] * 20, "y": np.where(a > 4, "big", "small")})
    frame.attrs["path"] = tmp_path_factory.mktemp("table") / "table.csv"
    frame.to_csv(frame.attrs["path"], index=False)
    return frame


@pytest.fixture(scope="module")
def of_table(table: pd.DataFrame, train_run: TrainRun) -> Run:
    path = table.attrs["path"]
    return train_run("mlp", path.with_name("run"), table=str(path), target="y", **QUICK)


@pytest.fixture(scope="module")
def of_digits(tmp_path_factory: pytest.TempPathFactory, train_run: TrainRun) -> Run:
    return train_run("digits-mlp", tmp_path_factory.mktemp("digits") / "run", **QUICK)


def test_a_run_is_created_trained_and_loaded_again(tmp_path: Path) -> None:
    entry = find("recipes", "digits-mlp")
    run = Run.create(entry, configure(entry.load().Recipe, QUICK), tmp_path / "run")
    assert not run.finished and repr(run).endswith("not finished)")
    records = [progress.record for progress in run.train("cpu", pictures=False) if progress.record]
    assert run.finished and len(records) == 2 and not list(run.folder.glob("*.png"))
    again = Run.load(str(run.folder))
    assert again.recipe == run.recipe and again.name == "digits-mlp"
    assert list(again.history) == records and again.history.stopped == "all epochs done"
    assert again.evaluate() == run.result["metrics"]
    assert again.summary.classes == tuple("0123456789") and again.summary.shape == (1, 8, 8)
    assert not again.model.training
    assert "digits-mlp" in repr(again) and "<table>" in again._repr_html_()
    assert len(again.plot().axes) >= 1


def test_what_training_leaves_in_memory_is_what_a_folder_gives_back(of_digits: Run) -> None:
    again = Run.load(of_digits.folder)
    for name, tensor in of_digits.model.state_dict().items():
        assert torch.equal(again.model.state_dict()[name], tensor)
    assert again.result["metrics"] == of_digits.result["metrics"]
    x = of_digits.data().test.x[:5]
    assert again.predict(x) == of_digits.predict(x)


def test_a_run_that_is_not_finished_goes_on_but_does_not_predict(tmp_path: Path) -> None:
    entry = find("recipes", "digits-mlp")
    run = Run.create(entry, configure(entry.load().Recipe, QUICK), tmp_path / "run")
    steps = run.train("cpu")
    next(now for now in steps if now.record)
    steps.close()
    half = Run.load(run.folder)
    assert len(half.history) == 1 and not half.finished
    with pytest.raises(InputError, match="is not finished; chainrule resume"):
        half.predict(torch.zeros(1, 1, 8, 8))
    list(half.train("cpu"))
    assert len(Run.load(run.folder).history) == 2


def test_a_folder_that_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"is not a run folder: it has no config\.json"):
        Run.load(tmp_path)


def test_frames_columns_files_and_tensors_get_the_same_answers(
    of_table: Run, table: pd.DataFrame
) -> None:
    rows = table.drop(columns="y").iloc[:4]
    wanted = of_table.predict(rows)
    assert len(wanted) == 4 and {answer["prediction"] for answer in wanted} <= {"big", "small"}
    assert of_table.predict({name: list(rows[name]) for name in rows}) == wanted
    encoded = of_table.summary.encoder.encode(rows)
    for inputs in (encoded, encoded.numpy(), encoded.double().numpy(), encoded.tolist()):
        assert of_table.predict(inputs) == wanted
    (alone,) = of_table.predict(encoded[0])
    assert alone["probabilities"] == pytest.approx(wanted[0]["probabilities"], rel=1e-5)
    file = table.attrs["path"].with_name("asked.csv")
    rows.to_csv(file, index=False)
    for given in (file, str(file), [file]):
        found = of_table.predict(given)
        assert [answer["input"] for answer in found] == [f"asked.csv, row {k}" for k in range(1, 5)]
        assert [{k: v for k, v in answer.items() if k != "input"} for answer in found] == wanted


def test_gaps_in_a_frame_are_filled_as_in_a_file(of_table: Run, table: pd.DataFrame) -> None:
    rows = table.drop(columns="y").iloc[:3].astype({"a": float})
    rows.loc[1, "a"] = np.nan
    file = table.attrs["path"].with_name("gaps.csv")
    rows.to_csv(file, index=False)
    ours, theirs = of_table.predict(rows), of_table.predict(file)
    assert [row["probability"] for row in ours] == [row["probability"] for row in theirs]


def test_pictures_are_answered_one_by_one(of_digits: Run, tmp_path: Path) -> None:
    paths = []
    for number in range(2):
        pixels = np.full((20, 20), 255, np.uint8)
        pixels[3:17, 8 + number : 11] = 0
        paths.append(tmp_path / f"{number}.png")
        Image.fromarray(pixels).save(paths[-1])
    found = of_digits.predict(paths)
    assert [answer["input"] for answer in found] == ["0.png", "1.png"]
    assert of_digits.predict(paths[1]) == found[1:]


def test_texts_are_answered_and_continued(
    train_run: TrainRun, few_reviews: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge = train_run("imdb-lasso", tmp_path / "judge", few_reviews, strengths=(1.0,))
    answers = judge.predict(["a lovely, great film", "dull and awful"])
    assert [answer["prediction"] for answer in answers] == ["positive", "negative"]
    assert judge.predict("a lovely, great film") == answers[:1]
    with pytest.raises(InputError, match="does not write text"):
        judge.generate("a")
    monkeypatch.setattr("chainrule.recipes.families.language_model.SAMPLE_LENGTH", 5)
    (tmp_path / "my.txt").write_text("to be or not to be, that is the question. " * 10)
    sizes = {"context_length": 8, "hidden_size": 8, "num_layers": 1, "num_heads": 2}
    values = {"text": str(tmp_path / "my.txt"), "epochs": 1, "epoch_steps": 2, **sizes}
    writer = train_run("gpt", tmp_path / "writer", **values)
    text = writer.generate("to be", length=7, seed=3, temperature=0.5)
    assert text.startswith("to be") and len(text) == 12
    assert text == Run.load(writer.folder).generate("to be", length=7, seed=3, temperature=0.5)
    with pytest.raises(InputError, match="predicts the next token; let it write"):
        writer.predict("to be")


def test_inputs_that_do_not_fit_are_refused_in_one_sentence(
    of_digits: Run, of_table: Run, table: pd.DataFrame
) -> None:
    for run, inputs, words in (
        (of_digits, torch.zeros(3, 64), r"expected inputs of shape \(1, 8, 8\), a batch first"),
        (of_digits, np.zeros((2, 1, 9, 9)), r"got \(2, 1, 9, 9\)"),
        (of_digits, torch.zeros(2, 1, 8, 8, dtype=torch.uint8), "expected pixels from 0 to 1"),
        (of_digits, table, "has not learned from a table"),
        (of_digits, [], "expected files or texts to predict from, got none"),
        (of_digits, "absent.png", "there is no file absent.png"),
        (of_digits, object(), "expected files, texts, a frame, a tensor or an array"),
        (of_table, table[["b"]], "'a'"),
        (of_table, {"a": [1, 2], "b": ["u"]}, "b"),
        (of_table, "absent.csv", "absent.csv"),
    ):
        with pytest.raises(InputError, match=words) as caught:
            run.predict(inputs)
        assert "\n" not in str(caught.value)


def test_a_recipe_of_ones_own_is_trained_loaded_and_predicted_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("my_recipe.py").write_text(OWN)
    entry = entry_from_file("recipes", Path("./my_recipe.py"))
    assert entry.name == "my-recipe" and entry.title == "My digits"
    run = Run.create(entry, configure(entry.load().Recipe, {"width": 4}), Path("run"))
    list(run.train("cpu", pictures=False))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    again = Run.load(tmp_path / "run")
    assert again.recipe.width == 4 and again.evaluate() == again.result["metrics"]
    x = again.data().test.x[:3]
    assert [answer["prediction"] for answer in again.predict(x)] == [
        str(k) for k in again.model(x).argmax(1).tolist()
    ]
    (tmp_path / "my_recipe.py").unlink()
    with pytest.raises(InputError, match=r"there is no file .*my_recipe\.py"):
        Run.load(tmp_path / "run")


@pytest.mark.parametrize("idle", [{"temperature": 2.0}, {"teacher_share": 0.5}])
def test_settings_of_a_teacher_need_a_teacher(idle: dict[str, float]) -> None:
    with pytest.raises(InputError, match="do nothing without a `teacher`"):
        configure(find("recipes", "digits-mlp").load().Recipe, idle)
