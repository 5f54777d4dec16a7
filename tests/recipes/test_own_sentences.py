"""From a file of tagged sentences or of pairs to answers, by the command line."""

import csv
from pathlib import Path

import pytest

from chainrule.cli.main import main
from chainrule.recipes.families.tagging import marks_phrases, phrases
from chainrule.runs.run import Run

NOUNS, VERBS = ("dogs", "birds", "ships"), ("run", "fly", "sail")


@pytest.mark.parametrize("model", ["lstm", "bert"])
def test_from_tagged_sentences_to_the_tags_of_new_words(model: str, tmp_path: Path) -> None:
    """ "light" is a noun after "the" and a verb after a noun: only the sentence tells."""
    source, run, out = tmp_path / "tags.txt", tmp_path / "run", tmp_path / "answers.csv"
    rows = []
    for k in range(120):
        noun, verb = NOUNS[k % 3], ("light", *VERBS)[k % 4]
        subject = ["the D", "light N"] if k % 5 == 0 else [f"{noun} N"]
        rows += [*subject, f"{verb} V", ""]
    source.write_text("\n".join(rows))
    flags = ["--conll", str(source), "--model", model, "--epochs", "12", "--batch-size", "16"]
    flags += ["--embedding-dim", "8", "--lstm-size", "8", "--dropout", "0", "--max-length", "16"]
    flags += ["--hidden-size", "8", "--num-heads", "2", "--num-layers", "1", "--vocab-size", "100"]
    flags += ["--learning-rate", "0.02", "--quiet", "--out", str(run)]
    assert main(["train", "tagger", *flags]) == 0
    result = Run.load(run).result
    assert result["metrics"]["test"]["accuracy"] > 0.95
    (baseline,) = result["compared"].values()
    assert baseline["test"]["accuracy"] < result["metrics"]["test"]["accuracy"]
    assert (run / "confusion.png").is_file()
    report = (run / "tags.txt").read_text().split()
    assert report[:4] == ["precision", "recall", "f1-score", "support"] and "V" in report
    assert main(["predict", str(run), "the light run", "birds light", "--out", str(out)]) == 0
    with out.open() as file:
        answers = list(csv.DictReader(file))
    assert [row["word"] for row in answers] == ["the", "light", "run", "birds", "light"]
    assert [row["prediction"] for row in answers] == ["D", "N", "V", "N", "V"]
    assert [row["sentence"] for row in answers] == list("11122")
    assert Run.load(run).evaluate()["test"]["accuracy"] == pytest.approx(
        result["metrics"]["test"]["accuracy"]
    )


def test_phrases_are_counted_whole() -> None:
    tags = ["B-A", "I-A", "O", "I-B", "I-B", "B-B", "I-A", "O"]
    assert phrases(tags) == {(0, 1, "A"), (3, 4, "B"), (5, 5, "B"), (6, 6, "A")}
    assert phrases(["O"]) == set() == phrases([])
    assert marks_phrases(("<pad>", "B-A", "I-A", "O")) and not marks_phrases(("<pad>", "N", "O"))


def test_tags_of_phrases_get_a_score_of_whole_phrases(tmp_path: Path) -> None:
    rows = [f"Rome B-X\n{'City I-X' if k % 2 else 'sleeps O'}\nsoon O\n" for k in range(40)]
    (tmp_path / "ner.txt").write_text("\n".join(rows))
    flags = "--embedding-dim 8 --lstm-size 8 --epochs 8 --batch-size 8 --learning-rate 0.05"
    more = f"--conll {tmp_path}/ner.txt --quiet --no-pictures --out {tmp_path}/run"
    assert main(["train", "tagger", *flags.split(), *more.split()]) == 0
    found = Run.load(tmp_path / "run").result["compared"]["whole phrases"]["test"]
    assert found == {"f1": 1.0}


@pytest.mark.parametrize("model", ["gru", "transformer"])
def test_from_pairs_to_translations(model: str, tmp_path: Path) -> None:
    source, run, out = tmp_path / "pairs.tsv", tmp_path / "run", tmp_path / "answers.csv"
    words = {"red": "rouge", "old": "vieux", "dog": "chien", "cat": "chat", "sees": "voit"}
    colors, animals = ("red", "old"), ("dog", "cat")
    pairs = [
        f"{a} {b} sees {c} {d} {k}" for a in colors for b in animals for c in colors
        for d in animals for k in range(6)
    ]  # fmt: skip
    lines = [f"{text}\t{' '.join(words.get(w, w) for w in text.split())}" for text in pairs]
    source.write_text("\n".join(lines))
    flags = ["--pairs", str(source), "--model", model, "--epochs", "30", "--batch-size", "16"]
    flags += ["--embedding-dim", "16", "--hidden-size", "16", "--num-heads", "2", "--dropout", "0"]
    flags += ["--num-layers", "1", "--feedforward-size", "32", "--learning-rate", "0.02"]
    flags += ["--beam-size", "2", "--patience", "0", "--quiet", "--out", str(run)]
    assert main(["train", "translate", *flags]) == 0
    result = Run.load(run).result
    assert result["metrics"]["test"]["bleu"] > 60
    assert "likeliest word each time" in result["compared"]
    assert {path.name for path in run.glob("*.png")} >= {"alignment.png", "bleu-by-length.png"}
    assert main(["predict", str(run), "old dog sees red cat 3", "--out", str(out)]) == 0
    with out.open() as file:
        (answer,) = csv.DictReader(file)
    assert answer["prediction"].split()[:3] == ["vieux", "chien", "voit"]
