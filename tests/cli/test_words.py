"""Words that fit no flag end in exit code 2 and one sentence, never in a frame of the parser."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chainrule.cli.main import main
from chainrule.cli.words import is_flag

CASES = {
    "train digits-mlp --epochs x": "--epochs must be a whole number, got 'x'",
    "train digits-mlp --epochs 1.5": "--epochs must be a whole number, got '1.5'",
    "train digits-mlp --learning-rate=fast": "--learning-rate must be a number, got 'fast'",
    "train digits-mlp --hidden 8 eight": "--hidden must be a whole number, got 'eight'",
    "train digits-mlp --epochs": "--epochs needs a value: a whole number",
    "train digits-mlp --epochs --quiet": "--epochs needs a value: a whole number",
    "train digits-mlp --out": "--out needs a value: a path",
    "train digits-mlp --epochs 3 --epochs 4": "--epochs is given twice",
    "train digits-mlp --batch_size 3 --batch-size=4": "--batch-size is given twice",
    "train digits-mlp --json=3": "--json takes no value, got '3'",
    "train digits-mlp more": "has no use for 'more'",
    "train digits-mlp -x": "has no flag -x",
    "train mlp": "chainrule train mlp needs --table and --target",
    "tune digits-mlp --sampler gird": "--sampler must be one of tpe, random, grid, got 'gird'",
    "tune --resume": "--resume needs a value: a path",
    "list foo": "KIND must be one of models, ",
    "list models data": "chainrule list has no use for 'data'",
    "show": "chainrule show needs NAME",
    "resume": "chainrule resume needs RUN",
    "resume a b": "chainrule resume has no use for 'b'",
    "predict": "chainrule predict needs RUN",
    "predict a": "chainrule predict needs FILE …",
    "generate a --prompt": "--prompt needs a value: a word",
    "lab novikoff --trials": "--trials needs a value: a whole number",
    "lab --seeds x": "--seeds must be a whole number, got 'x'",
    "distill a": "expected the folder of a run and the name of a recipe",
}


@pytest.mark.parametrize(("words", "told"), CASES.items())
def test_what_does_not_fit_is_refused_in_one_sentence(
    words: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words.split()) == 2
    said = capsys.readouterr().err
    assert told in said
    assert said.count("\n") == 1 and said.startswith("chainrule: ")


@given(st.floats() | st.integers())
def test_numbers_are_never_flags(number: float) -> None:
    assert not is_flag(str(number))
    assert not is_flag(f"-{abs(number)}")


def test_help_wins_over_everything_else(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(["train", "digits-mlp", "--help", "--epochs", "x"])
    assert not left.value.code
    assert "--batch-size" in capsys.readouterr().out


def test_words_after_two_dashes_are_no_flags(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "--", "--code"]) == 2
    assert "there is no entry named '--code'" in capsys.readouterr().err


def test_a_word_that_is_no_text_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", "digits-mlp", "--freeze", "\udcff"]) == 2
    assert "not UTF-8" in capsys.readouterr().err


def test_a_batch_cannot_be_split_into_more_parts_than_a_number_holds(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["train", "digits-mlp", "--accumulate", str(2**63)]) == 2
    assert "--accumulate must be at most" in capsys.readouterr().err
