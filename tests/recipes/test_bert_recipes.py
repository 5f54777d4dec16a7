"""BERT's recipes: pre-training, fine-tuning from a run, answers on the command line."""

import json
import math
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from chainrule.data.datasets import imdb
from chainrule.data.splits import Split
from chainrule.data.text.wordpiece import PAD, UNK
from chainrule.errors import InputError
from chainrule.recipes.attention import bert_pretrain, ewt_bert, imdb_bert, squad_bert
from chainrule.recipes.families.fine_tuning import SCRATCH
from chainrule.recipes.families.masked_lm import masked_lm_task
from chainrule.registry import find
from chainrule.runs.configuration import Configuration, configure
from chainrule.runs.execute import start_from
from chainrule.runs.predictions import Predictions
from chainrule.runs.recipe import DataSummary
from chainrule.runs.run import Run, build, initial_model
from chainrule.training import evaluate

pytest.importorskip("tokenizers")
Answer = Callable[[str], str]
Rows = Callable[[str], list[dict]]
SMALL = {"hidden_size": 32, "num_layers": 2, "num_heads": 2, "max_length": 32}
QUICK = {"learning_rate": 5e-3, "batch_size": 16, "dropout": 0.0}
TEXTS = {"text": ("ewt", "squad"), "vocab_size": 120}
PRETRAIN = bert_pretrain.Recipe(**TEXTS, **SMALL)


@pytest.fixture(scope="module")
def runs(
    tmp_path_factory: pytest.TempPathFactory,
    train_run: Callable[..., Run],
    few_texts: Path,
    few_reviews: Path,
) -> Path:
    """A small BERT that has read of animals, and what became of it."""
    folder = tmp_path_factory.mktemp("runs")
    small = SMALL | QUICK
    train_run("bert-pretrain", folder / "bert", few_texts, epochs=60, **TEXTS, **small)
    start = {"from_run": str(folder / "bert")} | small
    train_run("ewt-bert", folder / "tags", few_texts, epochs=12, **start)
    train_run("squad-bert", folder / "answers", few_texts, epochs=30, **start)
    few = {"labeled": 60, "vocab_size": 150}
    train_run("imdb-bert", folder / "reviews", few_reviews, epochs=12, **few, **small)
    return folder


@pytest.fixture
def predictions(answer: Answer) -> Rows:
    """The rows that a command prints as JSON."""
    return lambda command: json.loads(answer(f"{command} --json"))["predictions"]


def result(folder: Path) -> dict:
    return json.loads((folder / "result.json").read_text("utf-8"))


def test_a_blank_is_filled_with_five_words(runs: Path, answer: Answer, predictions: Rows) -> None:
    found = predictions(f"predict {runs / 'bert'} 'the [MASK] swam to the lake.'")
    assert [row["blank"] for row in found] == [1] * 5
    assert len({row["prediction"] for row in found} & {"dog", "cat", "bird", "fish"}) >= 2
    p = [row["probability"] for row in found]
    assert p == sorted(p, reverse=True) and 0 < sum(p) <= 1
    two = predictions(f"predict {runs / 'bert'} 'the [MASK] [MASK] to the park.'")
    assert [row["blank"] for row in two] == [1] * 5 + [2] * 5
    shown = (runs / "bert/blanks.txt").read_text("utf-8")
    assert "the [MASK] ran\n    " in shown and "%" in shown
    assert "probability" in answer(f"predict {runs / 'bert'} 'the [MASK] ran'")


def test_pre_training_learns_and_is_measured_beside_frequencies(runs: Path) -> None:
    lines = (runs / "bert/metrics.jsonl").read_text("utf-8").splitlines()
    losses = [json.loads(line)["train_loss"] for line in lines]
    assert losses[-1] < 0.6 * losses[0]
    words = result(runs / "bert")["compared"]["the most frequent"]["test"]
    assert 1 < words["perplexity"] < 30 and 0 < words["word_accuracy"] < 0.5
    learned = result(runs / "bert")["metrics"]["test"]
    assert learned["text_perplexity"] < 0.8 * words["text_perplexity"]
    for name in ("attention", "positions", "learning"):
        assert (runs / f"bert/{name}.png").stat().st_size > 5_000


def test_words_are_tagged(runs: Path, predictions: Rows) -> None:
    assert result(runs / "tags")["metrics"]["test"]["accuracy"] > 0.95
    given = "'The dog ran to the lake.' 'the cat walked to the park.'"
    found = predictions(f"predict {runs / 'tags'} {given}")
    words = "The dog ran to the lake . the cat walked to the park ."
    assert " ".join(row["word"] for row in found) == words
    tags = "DET NOUN VERB ADP DET NOUN PUNCT"
    assert " ".join(row["prediction"] for row in found) == f"{tags} {tags}"
    assert [row["sentence"] for row in found] == [1] * 7 + [2] * 7
    assert sum(found[0]["probabilities"].values()) == pytest.approx(1)
    assert (runs / "tags/confusion.png").stat().st_size > 5_000


def test_questions_are_answered_from_the_passage(runs: Path, predictions: Rows) -> None:
    found = result(runs / "answers")
    assert found["metrics"]["test"]["exact_match"] > 0.9
    assert found["compared"]["the commonest place"]["test"]["f1"] == 1  # always the third word
    asked = "Who swam? | Yesterday the fish swam to the hill. Yesterday the fish swam to the hill."
    (row,) = predictions(f"predict {runs / 'answers'} '{asked}'")
    assert row["input"] == "Who swam?" and row["prediction"] == "fish"
    assert 0.3 < row["probability"] <= 1
    assert "right: " in (runs / "answers/answers.txt").read_text("utf-8")


def test_reviews_are_judged(runs: Path, predictions: Rows) -> None:
    found = result(runs / "reviews")
    assert found["metrics"]["test"]["accuracy"] > 0.9 and found["compared"] == {}
    assert found["examples"] == {"train": 60, "validation": 20, "test": 100}
    command = f"predict {runs / 'reviews'} 'lovely great fun' 'awful dull boring awful'"
    judged = predictions(command)
    assert [row["prediction"] for row in judged] == ["positive", "negative"]


def test_the_same_network_from_scratch_stands_beside(runs: Path) -> None:
    found = result(runs / "tags")
    scratch = found["compared"][SCRATCH]["test"]
    assert 0 < scratch["accuracy"] <= 1 and scratch["loss"] != found["metrics"]["test"]["loss"]
    assert Run.load(runs / "tags").evaluate() == found["metrics"]


def test_fine_tuning_begins_where_pre_training_ended(runs: Path, few_texts: Path) -> None:
    tuned = configure(ewt_bert.Recipe, {"from_run": str(runs / "bert"), **SMALL})
    data = tuned.recipe.data(few_texts)
    summary = tuned.recipe.summarize(data)
    model = build(tuned, summary)
    drawn = model.output.weight.clone()
    (remark,) = start_from(tuned, model, summary)
    assert "new head: output.weight, output.bias" in remark
    assert torch.equal(model.output.weight, drawn)
    source = PRETRAIN.model(DataSummary(vocab_sizes=(len(data.encoder),)))
    assert model.bert.state_dict().keys() == source.bert.state_dict().keys()
    saved = load_file(runs / "bert/model.safetensors")
    for name, weight in model.bert.state_dict().items():
        assert torch.equal(weight, saved[f"bert.{name}"]), name


def copied(run: Path, folder: Path, name: str, change: Callable[[dict], None]) -> Path:
    """The run elsewhere, with another content of one file."""
    moved = folder / run.name
    shutil.copytree(run, moved)
    content = json.loads((moved / name).read_text("utf-8"))
    del content["checksum"]
    change(content)
    (moved / name).write_text(json.dumps(content), "utf-8")
    return moved


def test_a_tuned_run_stands_alone_and_may_be_tuned_again(
    runs: Path, tmp_path: Path, few_texts: Path
) -> None:
    gone = {"from_run": str(tmp_path / "gone")}
    moved = copied(runs / "tags", tmp_path, "config.json", lambda c: c["settings"].update(gone))
    assert Run.load(moved).evaluate() == result(runs / "tags")["metrics"]
    again = squad_bert.Recipe(from_run=str(moved), **SMALL).data(few_texts)
    assert again.encoder == PRETRAIN.data(few_texts).encoder


def test_a_setting_that_is_gone_is_named(runs: Path, tmp_path: Path) -> None:
    old = {"fresh": 3, "bold": 1}
    moved = copied(runs / "tags", tmp_path, "config.json", lambda c: c["settings"].update(old))
    with pytest.raises(InputError, match=r"config.json does not fit .* ewt-bert named 'fresh'"):
        Run.load(moved)


def test_other_data_than_those_a_run_began_with_are_noticed(
    runs: Path, tmp_path: Path, few_texts: Path
) -> None:
    moved = copied(
        runs / "bert", tmp_path, "data.json", lambda data: data["encoder"]["tokens"].reverse()
    )
    with pytest.raises(InputError, match=r"the data have changed .* \(encoder differ"):
        Run.load(moved).evaluate()
    with pytest.raises(InputError, match="the data have changed"):
        next(Run.load(moved).train("cpu"))


def test_every_row_of_the_test_counts(runs: Path, few_texts: Path) -> None:
    recipe, data = PRETRAIN, PRETRAIN.data(few_texts)
    fewer = replace(data, validation=Split(data.validation.x[:2], data.validation.y[:2]))
    model = recipe.model(recipe.summarize(data))
    test = recipe.evaluate(Predictions(recipe, model, fewer))["test"]
    network, task = recipe.network(model, data), masked_lm_task(recipe.gist)
    assert test == evaluate(network, (data.test.x, data.test.y), task)


def test_words_begin_with_the_documents_they_appear_in(few_texts: Path) -> None:
    recipe, data = PRETRAIN, PRETRAIN.data(few_texts)
    summary = recipe.summarize(data)
    model = initial_model(Configuration(recipe), summary, data)
    some = data.meanings.shape[1]
    assert some == 8
    unknown = recipe.meanings([[[UNK, 7], [8]], [[9]], [[]]], 10)  # [UNK] is no word
    assert unknown.shape == (10, 2) and unknown.any(1).nonzero()[:, 0].tolist() == [7, 8, 9]
    begun = model.bert.embedding.weight[:, -some:] / (bert_pretrain.LOUD * 0.02 * some**0.5)
    known = data.meanings.any(1)
    assert 0.1 < known.double().mean() < 1
    torch.testing.assert_close(begun[known], data.meanings[known])
    alone = initial_model(Configuration(replace(recipe, latent=0.0)), summary, data)
    drawn = build(Configuration(recipe), summary).bert.embedding.weight[:, -some:]
    assert torch.equal(alone.bert.embedding.weight[:, -some:], drawn)


def test_most_training_pairs_are_short_and_none_that_measure(few_texts: Path) -> None:
    data = replace(PRETRAIN, short=12).data(few_texts)
    train, test = ((part.x != PAD).sum(1) for part in (data.train, data.test))
    assert 0.5 < (train <= 12).double().mean() < 1 and train.max() > 12
    assert (test > 12).double().mean() > 0.5
    with pytest.raises(InputError, match="`short` must be at least 8, got 7"):
        bert_pretrain.Recipe(short=7)


def test_blanks_for_ones_own_text_come_from_it(tmp_path: Path) -> None:
    text = "\n\n".join(f"Der Hund lief zum See {k}. Die Katze blieb hier." for k in range(9))
    (tmp_path / "my.txt").write_text(text, "utf-8")
    recipe = replace(PRETRAIN, text=(str(tmp_path / "my.txt"),), vocab_size=90)
    blanks = recipe.blanks(recipe.data(None))
    assert blanks and all(blank.count("[MASK]") == 1 for blank in blanks)
    words = set(text.lower().replace(".", " ").split())
    assert all(word in words for blank in blanks for word in blank.split() if word.isalpha())


def test_what_cannot_be_answered_is_refused(
    runs: Path, refusal: Answer, few_texts: Path, tmp_path: Path
) -> None:
    for command, words in (
        (f"predict {runs / 'bert'} 'the dog ran'", "expected a text with a blank to fill, [MASK]"),
        (f"predict {runs / 'bert'} '[MASK] {'the ' * 40}'", "longer than the 32"),
        (f"predict {runs / 'tags'} '  '", "expected words"),
        (f"predict {runs / 'reviews'} '  '", "expected words"),
        (f"predict {runs / 'answers'} 'Who swam?'", "expected 'question | passage'"),
        (f"predict {runs / 'answers'} 'Who swam? | '", "expected 'question | passage'"),
    ):
        assert words in refusal(command), command
    other = "other sizes than this one; set `hidden_size` 32, `num_layers` 2, `num_heads` 2"
    with pytest.raises(InputError, match=other):
        ewt_bert.Recipe(from_run=str(runs / "bert"), max_length=32).data(few_texts)
    begun = Configuration(ewt_bert.Recipe(**SMALL))
    Run.create(find("recipes", "ewt-bert"), begun, tmp_path / "begun", few_texts)
    with pytest.raises(InputError, match="is not a finished run of bert-pretrain"):
        ewt_bert.Recipe(from_run=str(tmp_path / "begun"), **SMALL).data(few_texts)
    with pytest.raises(InputError, match="there is no corpus or file named"):
        bert_pretrain.Recipe(text=("nowhere.txt",)).data(few_texts)


def test_settings_that_make_no_sense_are_refused(few_reviews: Path) -> None:
    for make, match in (
        (lambda: bert_pretrain.Recipe.configured(label_smoothing=0.1), "one label per hidden word"),
        (lambda: bert_pretrain.Recipe(text=()), "`text` names nothing"),
        (lambda: bert_pretrain.Recipe(gist=-1.0), "`gist` must be a number from 0 on, got -1.0"),
        (lambda: bert_pretrain.Recipe(gist=math.nan), "`gist` must be a number .*, got nan"),
        (lambda: bert_pretrain.Recipe(gist=math.inf), "`gist` must be a number .*, got inf"),
        (lambda: bert_pretrain.Recipe(latent=1.1), "`latent` must be a share from 0 to 1"),
        (lambda: bert_pretrain.Recipe(max_length=4), "`max_length` must be at least 8"),
        (lambda: ewt_bert.Recipe(num_heads=5), "a `hidden_size` that num_heads divides"),
        (lambda: ewt_bert.Recipe.configured(class_weights="balanced"), "has several labels"),
        (lambda: imdb_bert.Recipe(labeled=1), "`labeled` must be at least 2"),
        (lambda: imdb_bert.Recipe(labeled=81).data(few_reviews), "`labeled` must be at most 80"),
        (lambda: imdb_bert.Recipe(windows=0), "`windows` must be from 1 to 32, got 0"),
        (lambda: imdb_bert.Recipe(windows=33), "`windows` must be from 1 to 32, got 33"),
        (lambda: imdb_bert.Recipe.configured(members=2), "not support an ensemble: its batches"),
        (lambda: squad_bert.Recipe(longest=0), "`longest` must be at least 1"),
    ):
        with pytest.raises(InputError, match=match):
            make()


def test_a_file_that_is_not_there_is_no_sentence(runs: Path, refusal: Answer) -> None:
    said = refusal(f"predict {runs / 'reviews'} no-such-file.txt")
    assert "there is no file no-such-file.txt" in said


def test_long_reviews_are_read_in_windows(runs: Path, few_reviews: Path) -> None:
    recipe = imdb_bert.Recipe(labeled=10, vocab_size=150, windows=3, **SMALL)
    data = recipe.data(few_reviews)
    assert data.train.x.shape[1] == 1 + 3 * 31
    one = replace(recipe, windows=1).data(few_reviews)
    assert one.train.x.shape[1] == 32


def test_few_labels_are_of_both_classes_and_never_tested(few_reviews: Path) -> None:
    recipe = imdb_bert.Recipe(labeled=10, vocab_size=150, **SMALL)
    data = recipe.data(few_reviews)
    assert data.train.y.bincount().tolist() == data.validation.y.bincount().tolist() == [5, 5]
    assert len(data.test.y) == imdb.REVIEWS
    other = recipe.changed(seed=1).data(few_reviews)
    assert torch.equal(data.test.x, other.test.x)
    assert not torch.equal(data.train.x, other.train.x)
