"""`chainrule lab`: flags, the violation side by side, files of one's own."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from chainrule.cli.main import main
from chainrule.lab.connectionism import xor


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")


def test_broken_runs_the_violation_side_by_side(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lab", "xor", "--broken", "--out", "lab"]) == 0
    text = capsys.readouterr().out
    stated = next(line for line in text.splitlines() if "as stated" in line)
    violated = next(line for line in text.splitlines() if line.lstrip().startswith("violated "))
    assert stated.rstrip().endswith("holds")
    assert violated.rstrip().endswith("FAILS")
    assert "violated: The same hidden units with one output weight of the wrong sign." in text
    for name in ("xor.png", "xor.svg", "xor-broken.png", "xor-broken.svg"):
        assert Path("lab", name).stat().st_size > 5_000
    assert Path("lab/xor.png").read_bytes() != Path("lab/xor-broken.png").read_bytes()


def test_broken_gives_exit_code_1_unless_the_violation_fails(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    check, broken = xor.check, xor.broken
    monkeypatch.setattr(xor, "broken", check)
    assert main(["lab", "xor", "--broken"]) == 1
    monkeypatch.setattr(xor, "broken", broken)
    monkeypatch.setattr(xor, "check", broken)
    assert main(["lab", "xor", "--broken"]) == 1


def test_broken_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lab", "xor", "--broken", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["xor"]
    assert (found["holds"], found["broken"]["holds"]) == (True, False)
    assert (found["measured"], found["relation"], found["bound"]) == (0, "=", 0)


def test_a_single_claim_is_checked_with_many_seeds(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lab", "novikoff", "--seeds=2", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["novikoff"]
    assert (found["seeds"], found["failed"]) == (2, [])


def test_flags_of_a_claim_have_help(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["lab", "novikoff", "--help"])
    text = " ".join(capsys.readouterr().out.split())
    assert "--trials INT Random separable data sets. (default: 100)" in text
    assert "--seed INT Seed of everything random." in text


def test_a_file_of_ones_own_is_checked(capsys: pytest.CaptureFixture[str]) -> None:
    Path("my_claim.py").write_text(Path(xor.__file__).read_text("utf-8"), "utf-8")
    assert main(["lab", "./my_claim.py", "--out", "lab", "--broken"]) == 0
    assert "my-claim" in capsys.readouterr().out
    assert Path("lab/my-claim.png").exists()
    assert main(["lab", "my_claim.py", "xor", "--json", "--out", "lab"]) == 0
    assert set(json.loads(capsys.readouterr().out)) == {"my-claim", "xor"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["./none.py"], "there is no file none.py; expected a Python file that defines a claim"),
        (["./empty.py"], "empty.py is no claim: it must define def check"),
        (["novikoff", "--trials", "0"], "--trials must be at least 1, got 0"),
        (["xor", "cover", "--seeds", "0"], "--seeds must be at least 1, got 0"),
    ],
)
def test_errors_are_one_clear_line(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("empty.py").write_text('"""Nothing."""\n', "utf-8")
    assert main(["lab", *arguments]) == 2
    assert capsys.readouterr().err.strip() == f"chainrule: {message}"


def test_listing_claims_does_not_import_torch() -> None:
    code = (
        "import sys; from chainrule.cli.main import main; main(['lab']);"
        "sys.exit(any(name in sys.modules for name in ('torch', 'numpy', 'matplotlib')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
