"""Errors name flags on the command line, and faults are told by type, not by their text."""

import ast
from pathlib import Path

import pytest

import chainrule
from chainrule.cli import main as program
from chainrule.cli import options
from chainrule.cli.main import main

PACKAGE = Path(chainrule.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("train digits-mlp --epochs 0", "--epochs must be at least 1, got 0"),
        ("train digits-mlp --members 0", "--members must be at least 1, got 0"),
        ("train digits-mlp --from nowhere", "--from "),
        ("tune digits-mlp --folds 1", "--folds must be at least 2, got 1"),
        ("lr hopfield-digits", "does not support the learning-rate finder: it stores patterns"),
        ("train imdb-lstm --members 2", "imdb-lstm does not support an ensemble: its batches are"),
        ("train digits-mlp --epoch 3", "has no flag --epoch; did you mean --epochs?"),
        ("train digits-mlp --lr 0.1", "has no flag --lr; did you mean --learning-rate?"),
        ("train digits-mlp -wd=0.1", "has no flag -wd; did you mean --weight-decay?"),
        ("train digits-mlp --zebra=3", "has no flag --zebra; --help lists them"),
        ("list --serch x", "chainrule list has no flag --serch; did you mean --search?"),
        ("lab novikoff --trails 3", "did you mean --trials?"),
        ("resume somewhere", "chainrule train RECIPE makes one under runs/"),
    ],
)
def test_bad_input_is_one_sentence_in_flags(
    words: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words.split()) == 2
    error = capsys.readouterr().err
    assert told in error
    assert "`" not in error and "_" not in error.replace(str(Path.cwd()), "")
    assert len(error[error.index("chainrule: ") :].strip().splitlines()) == 1


def test_names_become_flags_of_the_running_command_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(options, "PARSED", {"batch_size", "from_run"})
    text = options.as_flags("`batch_size`, `from_run`, `momentum`, `chainrule x`", options.PARSED)
    assert text == "--batch-size, --from, momentum, chainrule x"
    names = ["trials", "hidden_size", "num_heads"]
    told = options.as_flags("hidden_size must be a multiple of num_heads, got trials 3", names)
    assert told == "--hidden-size must be a multiple of --num-heads, got trials 3"
    assert options.as_flags("trials must be 1, of_trials", names) == "--trials must be 1, of_trials"
    assert options.as_flags("known: hidden_size", names) == "known: hidden_size"


def test_exit_codes(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(_: list[str]) -> int:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(program, "dispatch", stopped)
        assert main(["list"]) == 130
    assert "interrupted" in capsys.readouterr().err
    assert main(["train", "digits-mlp", "--epochs", "many"]) == 2


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_no_decision_by_the_text_of_an_error_or_by_bytecode(path: Path) -> None:
    assert decisions(path.read_text("utf-8")) == []


def decisions(code: str) -> list[str]:
    """Places where an error's message is searched, or where code objects are read."""
    found = []
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Attribute) and node.attr in ("__code__", "co_names"):
            found.append(f"line {node.lineno}: {node.attr}")
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn):
            searched = node.comparators[0]
            if (
                isinstance(searched, ast.Call)
                and isinstance(searched.func, ast.Name)
                and searched.func.id in ("str", "repr")
                and isinstance(searched.args[0], ast.Name)
                and searched.args[0].id in ("error", "e", "err", "exception")
            ):
                found.append(f"line {node.lineno}: {ast.unparse(node)}")
    return found


@pytest.mark.parametrize(
    "code", ["'x' in str(error)", "f.__code__", "g.co_names", "a not in str(e)"]
)
def test_such_decisions_are_seen(code: str) -> None:
    assert decisions(code)
