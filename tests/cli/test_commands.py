"""The commands as a user types them."""

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from chainrule.cli import main as program
from chainrule.cli.main import main
from chainrule.data import digits
from chainrule.recipes.running import open_model
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
    x = digits.load().test.x[:3]
    _, model, _ = open_model(Path(run))
    for row in range(3):
        pixels = (255 * x[row, 0].numpy()).astype(np.uint8)
        Image.fromarray(pixels).resize((80, 80), Image.Resampling.BOX).save(f"{row}.png")
    found = json.loads(printed(capsys, "predict", run, "0.png", "1.png", "2.png", "--json"))
    expected = model(x).argmax(1).tolist()
    assert [int(p["prediction"]) for p in found["predictions"]] == expected
    table = printed(capsys, "predict", run, "0.png")
    assert "0.png" in table
    assert max(map(len, table.splitlines())) <= 80


def test_train_prints_a_table_of_80_columns_and_numbers_its_runs(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for _ in range(2):
        text = printed(capsys, "train", "moons-mlp", "--epochs", "1", "--number", "100")
    assert "validation" in text
    assert max(map(len, text.splitlines())) <= 80
    assert sorted(path.name for path in Path("runs").iterdir()) == ["moons-mlp-1", "moons-mlp-2"]


def test_a_table_of_ones_own_is_learnt_and_applied(capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(0)
    rows = [(rng.normal(), rng.choice(["red", "blue"])) for _ in range(300)]
    lines = [f"{x:.3f},{c},{'high' if (x > 0) == (c == 'red') else 'low'}" for x, c in rows]
    Path("my.csv").write_text("size,colour,level\n" + "\n".join(lines) + "\n")
    flags = ["--table", "my.csv", "--target", "level", "--out", "run", "--json"]
    result = json.loads(printed(capsys, "train", "mlp", *flags, "--epochs", "60"))
    assert result["metrics"]["test"]["error"] < 0.1
    Path("new.csv").write_text("colour,size\nred,2\nblue,2\ngreen,0\n")
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


def test_resume_of_a_finished_run_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    printed(capsys, "train", "xor-mlp", "--epochs", "1", "--number", "100", "--out", "run")
    assert main(["resume", "run"]) == 0
    assert "already finished" in capsys.readouterr().err


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
    from chainrule.lab import xor

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
