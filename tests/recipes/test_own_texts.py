"""Labeled texts of a user: reading, splitting, and the way from a table to answers."""

import csv
from pathlib import Path

import pytest
import torch

from chainrule.cli.main import main
from chainrule.data.readers.texts.labeled_text import labeled_texts
from chainrule.errors import InputError
from chainrule.runs.run import Run

GOOD, BAD = ("lovely", "moving", "bright"), ("dull", "weak", "noisy")


def table(rows: int = 60) -> dict[str, list[str]]:
    """Every word of praise or blame in ever new company."""
    texts = [f"the {(GOOD if k % 2 else BAD)[k % 3]} film number {k}" for k in range(rows)]
    return {"text": texts, "label": ["good" if k % 2 else "bad" for k in range(rows)]}


def test_texts_are_split_by_class_and_the_test_split_does_not_move() -> None:
    first, second = (labeled_texts(table(), "text", "label", seed) for seed in (0, 1))
    assert [len(first.texts[name]) for name in ("train", "validation", "test")] == [38, 10, 12]
    assert first.classes == ("bad", "good")
    assert first.texts["test"] == second.texts["test"]
    assert first.texts["validation"] != second.texts["validation"]
    assert int(first.labels["test"].sum()) == 6
    for name in ("train", "validation", "test"):
        for text, label in zip(first.texts[name], first.labels[name].tolist(), strict=True):
            assert any(word in text for word in GOOD) == bool(label)


def test_rows_without_text_or_label_are_dropped_and_repeated_texts_named() -> None:
    rows = table()
    rows["text"][3], rows["label"][5] = "", "NA"
    test = {"text": [rows["text"][0], "something new"], "label": ["bad", "good"]}
    found = labeled_texts(rows, "text", "label", test=test)
    assert found.remarks == (
        "2 of 60 rows were dropped: no 'text' or no 'label'",
        "1 of 2 test texts also occur in training",
    )
    assert found.labels["test"].tolist() == [0, 1]


def test_a_test_class_that_training_lacks_is_refused() -> None:
    with pytest.raises(InputError, match="expected classes of the training rows, got 'so-so'"):
        labeled_texts(table(), "text", "label", test={"text": ["a"], "label": ["so-so"]})


@pytest.mark.parametrize("model", ["bag", "lstm", "bert"])
def test_from_a_table_of_texts_to_answers(model: str, tmp_path: Path) -> None:
    source, run, out = tmp_path / "reviews.csv", tmp_path / "run", tmp_path / "answers.csv"
    columns = table(200)
    with source.open("w", newline="") as file:
        csv.writer(file).writerows([columns, *zip(*columns.values(), strict=True)])
    flags = ["--table", str(source), "--text", "text", "--target", "label", "--model", model]
    flags += ["--epochs", "25", "--learning-rate", "0.02", "--batch-size", "16", "--dropout", "0"]
    flags += ["--hidden-size", "8", "--num-heads", "2", "--num-layers", "1", "--max-length", "16"]
    flags += ["--vocab-size", "300", "--quiet", "--no-pictures", "--out", str(run)]
    assert main(["train", "text-classifier", *flags]) == 0
    assert Run.load(run).result["metrics"]["test"]["accuracy"] > 0.9
    sentences = tmp_path / "new.txt"
    sentences.write_text("the moving film\nthe weak film\n")
    said = ["the lovely film number", str(sentences), "--out", str(out)]
    assert main(["predict", str(run), *said]) == 0
    with out.open() as file:
        answers = list(csv.DictReader(file))
    assert [answer["prediction"] for answer in answers] == ["good", "good", "bad"]
    p = torch.tensor([[float(row["p(bad)"]), float(row["p(good)"])] for row in answers])
    torch.testing.assert_close(p.sum(1), torch.ones(3))
