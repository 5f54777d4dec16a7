"""The commands as a user types them."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from chainrule.cli import main as program
from chainrule.cli.main import main
from chainrule.cli.predict import shown
from chainrule.console.output import to_json
from chainrule.data.datasets import digits
from chainrule.registry import CONTRACTS, entries


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(list(words)) == 0
    return capsys.readouterr().out


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, "--help")
    assert all(f"  {name} " in text for name in program.COMMANDS)
    assert printed(capsys) == text
    commands = Path(program.__file__).parent
    assert all((commands / f"{name}.py").is_file() for name in program.COMMANDS)


@pytest.mark.parametrize("command", ["list", "show", "resume", "evaluate", "predict", "lab"])
def test_every_command_has_help(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main([command, "--help"])
    assert left.value.code in (0, None)
    assert f"chainrule {command}" in capsys.readouterr().out


def test_list_names_everything_within_80_columns(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, "list")
    for kind in CONTRACTS:
        assert all(entry.name in text for entry in entries(kind))
    assert max(map(len, text.splitlines())) <= 80
    found = json.loads(printed(capsys, "list", "models", "--json"))
    assert list(found) == ["models"]
    assert "mlp" in found["models"]


@pytest.mark.parametrize("kind", CONTRACTS)
def test_show_tells_of_every_entry(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    for entry in entries(kind):
        assert entry.title in printed(capsys, "show", entry.name).replace("\n", " ")
        assert kind in json.loads(printed(capsys, "show", entry.name, "--json"))


def test_train_evaluate_and_predict_an_image(capsys: pytest.CaptureFixture[str]) -> None:
    out = json.loads(printed(capsys, "train", "digits-mlp", "--json", "--epochs", "15"))
    assert out["metrics"]["test"]["accuracy"] > 0.9
    run = "runs/digits-mlp-1"
    assert Path(run).is_dir()
    again = json.loads(printed(capsys, "evaluate", run, "--json"))
    assert again["metrics"] == out["metrics"]
    x, y = digits.load().test
    for row in range(20):
        pixels = (255 * x[row, 0].numpy()).astype(np.uint8)
        Image.fromarray(pixels).resize((80, 80), Image.Resampling.BOX).save(f"{row}.png")
    files = [f"{row}.png" for row in range(20)]
    found = json.loads(printed(capsys, "predict", run, *files, "--json"))["predictions"]
    assert sum(int(p["prediction"]) == k for p, k in zip(found, y.tolist(), strict=False)) >= 16
    assert sum(found[0]["probabilities"].values()) == pytest.approx(1, abs=1e-5)
    table = printed(capsys, "predict", run, "0.png")
    assert "0.png" in table
    assert max(map(len, table.splitlines())) <= 80


def test_a_table_of_ones_own_is_learned_and_applied(capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(0)
    rows = [(rng.normal(), rng.choice(["red", "blue"])) for _ in range(300)]
    lines = [f"{x:.3f},{c},{'high' if (x > 0) == (c == 'red') else 'low'}" for x, c in rows]
    Path("my.csv").write_text("size,color,level\n" + "\n".join(lines) + "\n")
    flags = ["--table", "my.csv", "--target", "level", "--out", "run", "--json"]
    result = json.loads(printed(capsys, "train", "mlp", *flags, "--epochs", "60"))
    assert result["metrics"]["test"]["error"] < 0.1
    Path("new.csv").write_text("color,size\nred,2\nblue,2\ngreen,0\n")
    found = json.loads(printed(capsys, "predict", "run", "new.csv", "--json"))["predictions"]
    assert [p["prediction"] for p in found[:2]] == ["high", "low"]


def test_a_number_of_a_table_is_predicted_in_its_own_units(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=400)
    lines = [f"{a:.4f},{5000 + 1000 * a:.2f}" for a in x]
    Path("my.csv").write_text("x,price\n" + "\n".join(lines) + "\n")
    flags = ["--table", "my.csv", "--target", "price", "--out", "run", "--json"]
    result = json.loads(printed(capsys, "train", "mlp", *flags, "--epochs", "60"))
    assert result["metrics"]["test"]["r2"] > 0.95
    Path("new.csv").write_text("x\n1\n")
    (found,) = json.loads(printed(capsys, "predict", "run", "new.csv", "--json"))["predictions"]
    assert found["prediction"] == pytest.approx(6000, rel=0.05)
    assert found["lower"] < found["prediction"] < found["upper"]
    assert "to 6," in printed(capsys, "predict", "run", "new.csv")


def test_predictions_keep_ids_and_columns_and_name_what_is_new(
    capsys: pytest.CaptureFixture[str],
) -> None:
    lines = [f"{'ab'[k % 2]},{k % 2}.5 %,{'no' if k % 2 else 'yes'}" for k in range(60)]
    Path("my.csv").write_text("kind,share,prediction\n" + "\n".join(lines) + "\n")
    flags = ["--table", "my.csv", "--target", "prediction", "--out", "run", "--threshold", "f1"]
    printed(capsys, "train", "mlp", *flags, "--epochs", "30", "--learning-rate", "0.01")
    Path("new").mkdir()
    Path("new/one.csv").write_text("id,kind,share,prediction\n7,a,0.5 %,?\n8,c,1.5 %,?\n")
    Path("new/two.csv").write_text("id,share,kind\nx,1.5 %,B\n")
    Path("new/notes.pdf").write_text("not a table")
    assert main(["predict", "run", "new", "--out", "found.csv"]) == 0
    said = capsys.readouterr().err
    assert "note: one.csv: column 'kind': 'c' in 1 of 2 rows was not in the training rows" in said
    rows = list(csv.DictReader(Path("found.csv").read_text().splitlines()))
    assert [row["file"] for row in rows] == ["one.csv", "one.csv", "two.csv"]
    assert [row["id"] for row in rows] == ["7", "8", "x"]
    assert [row["share"] for row in rows] == ["0.5 %", "1.5 %", "1.5 %"]
    assert (rows[0]["prediction (model)"], rows[2]["prediction"]) == ("yes", "no")
    Path("empty").mkdir()
    assert main(["predict", "run", "empty"]) == 2
    assert "the folder empty has no files to predict from; expected .csv" in capsys.readouterr().err


def test_predictions_can_be_written_as_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    printed(capsys, "train", "moons-mlp", "--epochs", "5", "--num-samples", "200", "--out", "run")
    Path("new.csv").write_text("x1,x2\n0,1\n1,-0.5\n")
    assert main(["predict", "run", "new.csv", "--out", "found.csv"]) == 0
    header, *rows = Path("found.csv").read_text().splitlines()
    assert header == "x1,x2,prediction,probability,p(upper),p(lower)"
    assert [row.split(",")[:2] for row in rows] == [["0", "1"], ["1", "-0.5"]]


def test_a_threshold_unit_predicts_too(capsys: pytest.CaptureFixture[str]) -> None:
    printed(capsys, "train", "perceptron-blobs", "--out", "run")
    Path("new.csv").write_text("x1,x2\n5,5\n-5,-5\n")
    found = json.loads(printed(capsys, "predict", "run", "new.csv", "--json"))["predictions"]
    assert {p["prediction"] for p in found} == {"negative", "positive"}
    assert all(set(p) == {"input", "prediction"} for p in found)  # it has no probabilities


def test_names_with_brackets_and_dollars_are_shown_as_they_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    lines = [f"{i * i},{'[low]' if i % 2 else '$a_$'}" for i in range(60)]
    Path("my.csv").write_text("weight [kg],level\n" + "\n".join(lines) + "\n")
    flags = ["--table", "my.csv", "--target", "level", "--epochs", "2", "--out", "run[1]"]
    text = printed(capsys, "train", "mlp", *flags)
    assert "run[1]/" in text.replace("\n", "")
    Path("new.csv").write_text("weight [kg]\n1\n2\n")
    text = printed(capsys, "predict", "run[1]", "new.csv")
    assert "[low]" in text or "$a_$" in text


def test_a_run_can_be_measured_from_another_folder(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [f"{i * i},{'ab'[i % 2]}" for i in range(60)]
    Path("my.csv").write_text("x,y\n" + "\n".join(lines) + "\n")
    flags = ["--table", "my.csv", "--target", "y", "--epochs", "2", "--out", "run", "--json"]
    result = json.loads(printed(capsys, "train", "mlp", *flags))
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    again = json.loads(printed(capsys, "evaluate", "../run", "--json"))
    assert again["metrics"] == result["metrics"]


def test_what_is_not_a_number_is_null_in_json() -> None:
    text = to_json({"a": float("nan"), "b": [1.0, float("inf")], "c": "x"}, indent=None)
    assert json.loads(text) == {"a": None, "b": [1.0, None], "c": "x"}


def test_the_graph_of_a_model_is_drawn(capsys: pytest.CaptureFixture[str]) -> None:
    printed(capsys, "show", "mlp", "--graph", "mlp.svg")
    assert Path("mlp.svg").read_text().lstrip().startswith("<?xml")
    assert main(["show", "moons", "--graph", "x.svg"]) == 2


def test_the_lab_checks_one_claim_with_its_flags(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, "lab", "novikoff", "--trials", "5", "--out", "lab")
    assert "holds" in text
    assert Path("lab/novikoff.png").exists()
    found = json.loads(printed(capsys, "lab", "xor", "novikoff", "--json", "--out", "lab"))
    assert set(found) == {"xor", "novikoff"}
    assert "backpropagation" in printed(capsys, "lab")


def test_a_claim_that_fails_gives_exit_code_1(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from chainrule.lab.connectionism import xor

    monkeypatch.setattr(xor, "check", xor.broken)
    assert main(["lab", "xor", "--out", "lab"]) == 1
    assert "FAILS" in capsys.readouterr().out


def test_a_fault_of_ours_is_one_line_unless_asked_for(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fault(_: list[str]) -> int:
        raise RuntimeError("boom")

    monkeypatch.setattr(program, "dispatch", fault)
    monkeypatch.delenv("CHAINRULE_DEBUG", raising=False)
    assert main(["list"]) == 1
    assert "unexpected fault: RuntimeError: boom" in capsys.readouterr().err
    monkeypatch.setenv("CHAINRULE_DEBUG", "1")
    with pytest.raises(RuntimeError, match="boom"):
        main(["list"])


def test_the_screen_names_other_classes_where_they_are_likely() -> None:
    sure = {"prediction": "a", "probabilities": {"a": 0.9995, "b": 0.0004, "c": 0.0001}}
    assert shown(sure) == {"prediction": "a", "or": ""}
    torn = {"prediction": "a", "probabilities": {"a": 0.6, "b": 0.0004, "c": 0.3996}}
    assert shown(torn)["or"] == "c (0.3996)"
