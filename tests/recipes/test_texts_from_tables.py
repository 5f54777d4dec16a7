"""Predictions for a table of texts keep its columns; reports and notes of small data."""

import csv
from io import StringIO

import pytest

import chainrule as cr
from chainrule.cli.main import main

WORDS = {"good": "a fine and lovely film", "bad": "a dull and awful film"}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("texts")
    rows = [(f"{WORDS[kind]} {k % 9}", kind) for k in range(30) for kind in WORDS]
    labels = {"good": ["good", "Good"], "bad": ["bad", "bad"]}
    with (folder / "reviews.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["text", "label"])
        writer.writerows((text, labels[kind][k % 3 == 0]) for k, (text, kind) in enumerate(rows))
    return cr.train(
        "text-classifier",
        table=str(folder / "reviews.csv"),
        text="text",
        target="label",
        epochs=2,
        threshold="f1",
        threads=1,
        out=folder / "run",
    )


def test_words_of_the_labels_that_differ_in_case_are_one_class(run):
    assert run.summary.classes == ("bad", "good")
    assert "column 'label': 'good' = 'Good'" in run.summary.remarks


def test_a_report_of_every_class_and_a_note_on_few_updates_are_made(run):
    assert {"report.txt", "calibration.png"} <= {path.name for path in run.folder.iterdir()}
    assert "f1" in run.result["metrics"]["test"]
    assert any("2 epochs of 38 examples are 2 updates" in said for said in run.summary.remarks)


def test_the_columns_of_a_table_stay_beside_the_predictions(run, tmp_path, capsys):
    asked, out = tmp_path / "new.csv", tmp_path / "out.csv"
    asked.write_text('id,text\n7,"a fine\nand lovely film"\n8,dull\n')
    assert main(["predict", str(run.folder), str(asked), "--out", str(out)]) == 0
    rows = list(csv.DictReader(StringIO(out.read_text())))
    assert [row["id"] for row in rows] == ["7", "8"]
    assert rows[0]["text"] == "a fine\nand lovely film" and rows[0]["prediction"] in WORDS
    asked.write_text("id,review\n7,fine\n")
    assert main(["predict", str(run.folder), str(asked)]) == 2
    assert "missing column 'text'" in capsys.readouterr().err


def test_the_threshold_of_the_run_decides(run):
    threshold = run.result["decision"]["threshold"]
    for answer in run.predict(["a fine film", "awful", "film"]):
        expected = "good" if answer["probabilities"]["good"] >= threshold else "bad"
        assert answer["prediction"] == expected
    run.result["decision"]["threshold"] = 0.999  # no answer is so sure
    assert {row["prediction"] for row in run.predict(["a fine film", "awful"])} == {"bad"}
    run.result["decision"]["threshold"] = threshold
