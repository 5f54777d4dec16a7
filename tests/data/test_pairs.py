"""Sentence pairs of a user: splits by sentence, notes, and what is refused."""

from pathlib import Path

import pytest

from chainrule.data.readers.texts.pairs import sentence_pairs
from chainrule.errors import InputError

LINES = [f"the {a} {b} number {k}\tle {b} {a} nombre {k}" for k in range(20) for a, b in (
    ("red", "dog"), ("old", "cat"))]  # fmt: skip


def write(path: Path, lines: list[str]) -> Path:
    path.write_text("\n".join(lines) + "\n")
    return path


def test_all_translations_of_a_sentence_are_in_one_split(tmp_path: Path) -> None:
    twice = [line + end for line in LINES for end in ("", " !")]
    data = sentence_pairs(write(tmp_path / "a.tsv", [*twice, *twice]), 100)
    parts = [{tuple(row) for row in part.x.tolist()} for part in (data.train, data.test)]
    sizes = [len(part.x) for part in (data.train, data.validation, data.test)]
    assert sizes == [64, 8, 8]
    assert len(data.references["test"]) == 8
    assert not {*data.references["test"]} & {*data.references["train"]}
    assert len(parts[0]) >= 1 and data.remarks == ()


def test_the_seed_moves_the_validation_split_only(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tsv", LINES)
    first, second = (sentence_pairs(path, 100, seed=seed) for seed in (0, 1))
    assert first.references["test"] == second.references["test"]
    assert first.references["validation"] != second.references["validation"]


def test_columns_are_swapped_and_further_ones_ignored(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tsv", [f"{line}\tCC-BY" for line in LINES])
    plain, swapped = sentence_pairs(path, 100), sentence_pairs(path, 100, swap=True)
    assert plain.references["train"][0].startswith("le ")
    assert swapped.references["train"][0].startswith("the ")
    assert "number" in swapped.encoder.target.tokens


def test_long_pairs_leave_and_a_part_is_drawn_with_a_note(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tsv", [*LINES, "long " * 60 + "\tcourt"])
    data = sentence_pairs(path, 100, max_pairs=32)
    assert data.remarks[:2] == (
        "1 pairs were dropped: a sentence has more than 50 words (`max_words`)",
        "32 of 40 pairs are used, drawn at random",
    )
    assert sum(len(part.x) for part in (data.train, data.validation, data.test)) == 32


def test_a_translation_that_training_has_of_another_sentence_is_noted(tmp_path: Path) -> None:
    data = sentence_pairs(write(tmp_path / "a.tsv", [f"s {k}\toui" for k in range(40)]), 100)
    assert data.remarks == ("4 of 4 test translations also occur in training, of other sentences",)


@pytest.mark.parametrize("line", ["only one", "one\t", "\ttwo", "one\t   "])
def test_a_line_without_two_sentences_is_refused_by_number(line: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="line 3: expected a sentence, a tab and its translation"):
        sentence_pairs(write(tmp_path / "a.tsv", [*LINES[:2], line, *LINES[2:]]), 100)


def test_too_few_pairs_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="at least 30 pairs, got 5"):
        sentence_pairs(write(tmp_path / "a.tsv", LINES[:5]), 100)
