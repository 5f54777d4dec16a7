"""BERT's recipes: what is hidden and asked, fine-tuning from a run, answers on the command line."""

import json
import math
import shlex
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from safetensors.torch import load_file

from chainrule.cli.main import main
from chainrule.data.datasets import imdb, squad
from chainrule.data.datasets.ewt import TAGS, Sentence
from chainrule.data.datasets.squad import Answer, Question
from chainrule.data.splits import Split
from chainrule.data.text.wordpiece import CLS, MASK, PAD, SEP, UNK, WordPiece, train_wordpiece
from chainrule.errors import InputError
from chainrule.learning.bag_of_words import bag_of_words
from chainrule.models.attention.bert import BERT
from chainrule.models.attention.bert_pretraining import BertPretraining
from chainrule.models.attention.bert_question_answering import BertQuestionAnswering
from chainrule.recipes.attention import bert_pretrain, ewt_bert, imdb_bert, squad_bert
from chainrule.recipes.families.bert import ByLength, segments, shortened
from chainrule.recipes.families.fine_tuning import SCRATCH
from chainrule.recipes.families.masked_lm import Guessing, all_tasks, fill, guessing_objective
from chainrule.recipes.families.span_qa import (
    Paired,
    answered,
    ask,
    inside,
    rows,
    whole_words,
    windows,
)
from chainrule.runs.recipe import Task
from chainrule.runs.run import begin, carry_on, measure_again
from chainrule.training import evaluate

pytest.importorskip("tokenizers")
SMALL = {"width": 32, "depth": 2, "heads": 2, "length": 32}
QUICK = {"learning_rate": 5e-3, "batch_size": 16, "dropout": 0.0}


def train(name: str, recipe: object, folder: Path, data: Path) -> None:
    begin(name, recipe, folder, data)  # type: ignore[arg-type]
    for _ in carry_on(folder, "cpu"):
        pass


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory, few_texts: Path, few_reviews: Path) -> Path:
    """A small BERT that has read of animals, and what became of it."""
    folder = tmp_path_factory.mktemp("runs")
    start = {"start": str(folder / "bert")}
    pretrain = bert_pretrain.Recipe(text=("ewt", "squad"), pieces=120, epochs=60, **SMALL, **QUICK)
    train("bert-pretrain", pretrain, folder / "bert", few_texts)
    tags = ewt_bert.Recipe(epochs=12, **start, **SMALL, **QUICK)
    train("ewt-bert", tags, folder / "tags", few_texts)
    answers = squad_bert.Recipe(epochs=30, **start, **SMALL, **QUICK)
    train("squad-bert", answers, folder / "answers", few_texts)
    reviews = imdb_bert.Recipe(epochs=12, labeled=60, pieces=150, **SMALL, **QUICK)
    train("imdb-bert", reviews, folder / "reviews", few_reviews)
    return folder


@pytest.fixture(scope="module")
def pieces() -> WordPiece:
    return train_wordpiece(["the dog ran to the old park and the cat sat"] * 2, 60, max_length=16)


def answer(command: str, capsys: pytest.CaptureFixture[str]) -> list[dict]:
    capsys.readouterr()
    assert main([*shlex.split(command), "--json"]) == 0
    return json.loads(capsys.readouterr().out)["predictions"]


def refusal(command: str, capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    assert main(shlex.split(command)) == 2
    return " ".join(capsys.readouterr().err.split())


def result(folder: Path) -> dict:
    return json.loads((folder / "result.json").read_text("utf-8"))


def test_a_blank_is_filled_with_five_words(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(f"predict {runs / 'bert'} 'the [MASK] swam to the lake.'", capsys)
    assert [row["blank"] for row in found] == [1] * 5
    assert len({row["prediction"] for row in found} & {"dog", "cat", "bird", "fish"}) >= 2
    p = [row["probability"] for row in found]
    assert p == sorted(p, reverse=True) and 0 < sum(p) <= 1
    two = answer(f"predict {runs / 'bert'} 'the [MASK] [MASK] to the park.'", capsys)
    assert [row["blank"] for row in two] == [1] * 5 + [2] * 5
    shown = (runs / "bert/blanks.txt").read_text("utf-8")
    assert "the [MASK] ran\n    " in shown and "%" in shown
    assert main(["predict", str(runs / "bert"), "the [MASK] ran"]) == 0
    assert "probability" in capsys.readouterr().out


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


def test_words_are_tagged(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert result(runs / "tags")["metrics"]["test"]["accuracy"] > 0.95
    given = "'The dog ran to the lake.' 'the cat walked to the park.'"
    found = answer(f"predict {runs / 'tags'} {given}", capsys)
    words = "The dog ran to the lake . the cat walked to the park ."
    assert " ".join(row["word"] for row in found) == words
    tags = "DET NOUN VERB ADP DET NOUN PUNCT"
    assert " ".join(row["prediction"] for row in found) == f"{tags} {tags}"
    assert [row["sentence"] for row in found] == [1] * 7 + [2] * 7
    assert sum(found[0]["probabilities"].values()) == pytest.approx(1)
    assert (runs / "tags/confusion.png").stat().st_size > 5_000


def test_questions_are_answered_from_the_passage(
    runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = result(runs / "answers")
    assert found["metrics"]["test"]["exact_match"] > 0.9
    assert found["compared"]["the commonest place"]["test"]["f1"] == 1  # always the third word
    asked = "Who swam? | Yesterday the fish swam to the hill. Yesterday the fish swam to the hill."
    (row,) = answer(f"predict {runs / 'answers'} '{asked}'", capsys)
    assert row["input"] == "Who swam?" and row["prediction"] == "fish"
    assert 0.3 < row["probability"] <= 1
    assert "right: " in (runs / "answers/answers.txt").read_text("utf-8")


def test_reviews_are_judged(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = result(runs / "reviews")
    assert found["metrics"]["test"]["accuracy"] > 0.9 and found["compared"] == {}
    assert found["examples"] == {"train": 60, "validation": 20, "test": 100}
    command = f"predict {runs / 'reviews'} 'lovely great fun' 'awful dull boring awful'"
    judged = answer(command, capsys)
    assert [row["prediction"] for row in judged] == ["positive", "negative"]


def test_the_same_network_from_scratch_stands_beside(runs: Path) -> None:
    found = result(runs / "tags")
    scratch = found["compared"][SCRATCH]["test"]
    assert 0 < scratch["accuracy"] <= 1 and scratch["loss"] != found["metrics"]["test"]["loss"]
    assert measure_again(runs / "tags")["metrics"] == found["metrics"]


def test_fine_tuning_begins_where_pre_training_ended(runs: Path, few_texts: Path) -> None:
    recipe = ewt_bert.Recipe(start=str(runs / "bert"), freeze="*", epochs=1, **SMALL)
    data = recipe.data(few_texts)
    model = recipe.model(recipe.facts(data).task)
    with pytest.raises(InputError, match="no parameters that a gradient"):
        next(recipe.learn(model, data, None, "cpu"))
    source = bert_pretrain.Recipe(text=("ewt", "squad"), pieces=120, **SMALL)
    before = source.model(Task((len(data.encoder),))).bert.state_dict()
    assert model.bert.state_dict().keys() == before.keys()
    saved = load_file(runs / "bert/model.safetensors")
    for name, weight in model.bert.state_dict().items():
        assert torch.equal(weight, saved[f"bert.{name}"]), name


def copied(run: Path, folder: Path, name: str, change: Callable[[dict], None]) -> Path:
    """The run elsewhere, with another content of one file."""
    moved = folder / run.name
    shutil.copytree(run, moved)
    content = json.loads((moved / name).read_text("utf-8"))
    change(content)
    (moved / name).write_text(json.dumps(content), "utf-8")
    return moved


def test_a_tuned_run_stands_alone_and_may_be_tuned_again(
    runs: Path, tmp_path: Path, few_texts: Path
) -> None:
    gone = {"start": str(tmp_path / "gone")}
    moved = copied(runs / "tags", tmp_path, "config.json", lambda c: c["settings"].update(gone))
    assert measure_again(moved)["metrics"] == result(runs / "tags")["metrics"]
    again = squad_bert.Recipe(start=str(moved), **SMALL).data(few_texts)
    assert (
        again.encoder
        == bert_pretrain.Recipe(text=("ewt", "squad"), pieces=120, **SMALL).data(few_texts).encoder
    )


def test_a_setting_that_is_gone_is_named(runs: Path, tmp_path: Path) -> None:
    old = {"fresh": 3, "bold": 1}
    moved = copied(runs / "tags", tmp_path, "config.json", lambda c: c["settings"].update(old))
    with pytest.raises(InputError, match="ewt-bert does not know: bold, fresh; open the run with"):
        measure_again(moved)


def test_other_data_than_those_a_run_began_with_are_noticed(
    runs: Path, tmp_path: Path, few_texts: Path
) -> None:
    moved = copied(
        runs / "bert", tmp_path, "task.json", lambda task: task["encoder"]["tokens"].reverse()
    )
    with pytest.raises(InputError, match=r"the data have changed .* \(encoder differ"):
        measure_again(moved)
    with pytest.raises(InputError, match="the data have changed"):
        next(carry_on(moved, "cpu"))


def test_every_row_of_the_test_counts(runs: Path, few_texts: Path) -> None:
    recipe = bert_pretrain.Recipe(text=("ewt", "squad"), pieces=120, **SMALL)
    data = recipe.data(few_texts)
    fewer = replace(data, validation=Split(data.validation.x[:2], data.validation.y[:2]))
    model = recipe.model(recipe.facts(data).task)
    test = recipe.measure(model, fewer)["test"]
    guessing, objective = recipe.guessing(model, data), guessing_objective(recipe.gist)
    assert test == evaluate(guessing, (data.test.x, data.test.y), objective)


def test_words_begin_with_the_documents_they_appear_in(few_texts: Path) -> None:
    recipe = bert_pretrain.Recipe(text=("ewt", "squad"), pieces=120, **SMALL)
    data = recipe.data(few_texts)
    model = recipe.model(recipe.facts(data).task)
    recipe.learn(model, data, None, "cpu").close()  # before the first step
    some = data.meanings.shape[1]
    assert some == 8
    unknown = recipe.meanings([[[UNK, 7], [8]], [[9]], [[]]], 10)  # [UNK] is no word
    assert unknown.shape == (10, 2) and unknown.any(1).nonzero()[:, 0].tolist() == [7, 8, 9]
    begun = model.bert.embedding.weight[:, -some:] / (bert_pretrain.LOUD * 0.02 * some**0.5)
    known = data.meanings.any(1)
    assert 0.1 < known.double().mean() < 1
    torch.testing.assert_close(begun[known], data.meanings[known])
    alone = recipe.model(recipe.facts(data).task)
    drawn = alone.bert.embedding.weight[:, -some:].clone()
    replace(recipe, latent=0.0).learn(alone, data, None, "cpu").close()
    assert torch.equal(alone.bert.embedding.weight[:, -some:], drawn)


def test_most_training_pairs_are_short_and_none_that_measure(few_texts: Path) -> None:
    recipe = bert_pretrain.Recipe(text=("ewt", "squad"), pieces=120, short=12, **SMALL)
    data = recipe.data(few_texts)
    train, test = ((part.x != PAD).sum(1) for part in (data.train, data.test))
    assert 0.5 < (train <= 12).double().mean() < 1 and train.max() > 12
    assert (test > 12).double().mean() > 0.5
    with pytest.raises(InputError, match="--short must be at least 8, got 7"):
        bert_pretrain.Recipe(short=7)


def test_blanks_for_ones_own_text_come_from_it(tmp_path: Path) -> None:
    text = "\n\n".join(f"Der Hund lief zum See {k}. Die Katze blieb hier." for k in range(9))
    (tmp_path / "my.txt").write_text(text, "utf-8")
    recipe = bert_pretrain.Recipe(text=(str(tmp_path / "my.txt"),), pieces=90, **SMALL)
    blanks = recipe.blanks(recipe.data(None))
    assert blanks and all(blank.count("[MASK]") == 1 for blank in blanks)
    words = set(text.lower().replace(".", " ").split())
    assert all(word in words for blank in blanks for word in blank.split() if word.isalpha())


def test_an_answer_ends_where_a_word_ends() -> None:
    passage = "a man from Kent, 1066"
    assert whole_words(passage, 3, 12) == "man from Kent"
    assert whole_words(passage, 0, 1) == "a" and whole_words(passage, 18, 20) == "1066"


def test_what_cannot_be_answered_is_refused(
    runs: Path, capsys: pytest.CaptureFixture[str], few_texts: Path, tmp_path: Path
) -> None:
    for command, words in (
        (f"predict {runs / 'bert'} 'the dog ran'", "expected a text with a blank to fill, [MASK]"),
        (f"predict {runs / 'bert'} '[MASK] {'the ' * 40}'", "longer than the 32"),
        (f"predict {runs / 'tags'} '  '", "expected words"),
        (f"predict {runs / 'reviews'} '  '", "expected words"),
        (f"predict {runs / 'answers'} 'Who swam?'", "expected 'question | passage'"),
        (f"predict {runs / 'answers'} 'Who swam? | '", "expected 'question | passage'"),
    ):
        assert words in refusal(command, capsys), command
    with pytest.raises(InputError, match=r"has the width 32, the .*; give --width 32 --depth 2"):
        ewt_bert.Recipe(start=str(runs / "bert"), length=32).data(few_texts)
    begin("ewt-bert", ewt_bert.Recipe(**SMALL), tmp_path / "begun", few_texts)
    with pytest.raises(InputError, match="is not a finished run of bert-pretrain"):
        ewt_bert.Recipe(start=str(tmp_path / "begun"), **SMALL).data(few_texts)
    with pytest.raises(InputError, match="there is no text named"):
        bert_pretrain.Recipe(text=("nowhere.txt",)).data(few_texts)


def test_settings_that_make_no_sense_are_refused(few_reviews: Path) -> None:
    for make, match in (
        (lambda: bert_pretrain.Recipe(label_smoothing=0.1), "one per hidden word"),
        (lambda: bert_pretrain.Recipe(text=()), "--text names nothing"),
        (lambda: bert_pretrain.Recipe(gist=-1.0), "--gist must be a number from 0 on, got -1.0"),
        (lambda: bert_pretrain.Recipe(gist=math.nan), "--gist must be a number .*, got nan"),
        (lambda: bert_pretrain.Recipe(gist=math.inf), "--gist must be a number .*, got inf"),
        (lambda: bert_pretrain.Recipe(latent=1.1), "--latent must be a share from 0 to 1"),
        (lambda: bert_pretrain.Recipe(length=4), "--length must be at least 8"),
        (lambda: ewt_bert.Recipe(heads=5), "a --width that the heads share"),
        (lambda: ewt_bert.Recipe(class_weights="balanced"), "here each has several"),
        (lambda: imdb_bert.Recipe(labeled=1), "--labeled must be at least 2"),
        (lambda: imdb_bert.Recipe(labeled=81).data(few_reviews), "--labeled must be at most 80"),
        (lambda: imdb_bert.Recipe(windows=0), "--windows must be from 1 to 32, got 0"),
        (lambda: imdb_bert.Recipe(windows=33), "--windows must be from 1 to 32, got 33"),
        (lambda: imdb_bert.Recipe(members=2), "do not go with sequences"),
        (lambda: squad_bert.Recipe(longest=0), "--longest must be at least 1"),
    ):
        with pytest.raises(InputError, match=match):
            make()


def test_a_file_that_is_not_there_is_no_sentence(
    runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["predict", str(runs / "reviews"), "no-such-file.txt"]) == 2
    assert "there is no file no-such-file.txt" in capsys.readouterr().err


def test_long_reviews_are_read_in_windows(runs: Path, few_reviews: Path) -> None:
    recipe = imdb_bert.Recipe(labeled=10, pieces=150, windows=3, **SMALL)
    data = recipe.data(few_reviews)
    assert data.train.x.shape[1] == 1 + 3 * 31
    one = replace(recipe, windows=1).data(few_reviews)
    assert one.train.x.shape[1] == 32


def test_few_labels_are_of_both_classes_and_never_tested(few_reviews: Path) -> None:
    recipe = imdb_bert.Recipe(labeled=10, pieces=150, **SMALL)
    data = recipe.data(few_reviews)
    assert data.train.y.bincount().tolist() == data.validation.y.bincount().tolist() == [5, 5]
    assert len(data.test.y) == imdb.REVIEWS
    other = replace(recipe, seed=1).data(few_reviews)
    assert torch.equal(data.test.x, other.test.x)
    assert not torch.equal(data.train.x, other.train.x)


def model(symbols: int = 60) -> BertPretraining:
    torch.manual_seed(0)
    return BertPretraining(BERT(symbols, 16, 8, 2, 2, 0.0))


def guesser(pieces: WordPiece) -> Guessing:
    """The weights of words differ, [UNK] and the like have none."""
    weights = torch.linspace(0.1, 1, len(pieces)).where(torch.arange(len(pieces)) > MASK, 0)
    return Guessing(model(len(pieces)), pieces, weights)


def test_the_loss_is_the_mean_over_all_hidden_words(pieces: WordPiece) -> None:
    """Against all logits at once, and padding changes nothing."""
    guessing = guesser(pieces).eval()
    x = pieces.encode_texts(["the dog ran", "the cat sat and the dog ran to the old park"])
    y = torch.tensor([0, 1])
    hidden = hide(x, guessing.scheme, torch.Generator().manual_seed(0))
    found = guessing.model.logits(hidden.tokens, segments(hidden.tokens, SEP))
    logits = found.tokens.gather(1, hidden.places[:, :, None].expand(-1, -1, len(pieces)))
    words = F.cross_entropy(logits[hidden.counts], hidden.words[hidden.counts])
    pairs = F.cross_entropy(found.next_sentence, y)
    texts = bag_of_words(found.tokens[:, 0], x, guessing.weights).mean()  # hidden words as well
    with torch.no_grad():
        output = guessing(x)
    for gist in (0.0, 4.0):
        loss = all_tasks(output, y, gist).mean().item()
        assert loss == pytest.approx((words + pairs + gist * texts).item(), rel=1e-5)
    figures = evaluate(guessing, (x, y), guessing_objective(4.0))
    assert figures["loss"] == pytest.approx(loss, rel=1e-5)
    assert figures["text_perplexity"] == pytest.approx(texts.exp().item(), rel=1e-5)
    assert figures["perplexity"] == pytest.approx(words.exp().item(), rel=1e-5)
    right = logits.argmax(2)[hidden.valid] == hidden.targets[hidden.valid]
    assert figures["word_accuracy"] == right.double().mean().item()


def test_words_are_hidden_anew_in_training_and_alike_in_measuring(pieces: WordPiece) -> None:
    guessing = guesser(pieces)
    x = pieces.encode_texts(["the cat sat and the dog ran to the old park"] * 3)
    torch.manual_seed(0)
    first, second = guessing(x), guessing(x)
    assert not torch.equal(first, second)
    torch.manual_seed(0)
    assert torch.equal(guessing(x), first)
    guessing.eval()
    assert torch.equal(guessing(x), guessing(x))


def test_rows_of_any_length_are_measured_in_their_order(
    pieces: WordPiece, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["the", "cat", "sat", "and", "the", "dog", "ran", "to", "the", "old", "park"]
    x = pieces.encode_texts([" ".join(words[: 1 + k % 11]) for k in range(25)])
    guessing = guesser(pieces).eval()
    torch.manual_seed(0)
    reader = ByLength(BertQuestionAnswering(BERT(len(pieces), 16, 8, 2, 2, 0.0)), -5.0).eval()
    whole, places = guessing(x), reader(x)
    for module in ("masked_lm", "bert"):
        monkeypatch.setattr(f"chainrule.recipes.families.{module}.AT_ONCE", 4)
    torch.testing.assert_close(guessing(x), whole)
    torch.testing.assert_close(reader(x)[x != PAD], places[x != PAD])
    assert shortened(x[:3]).shape[1] == 5


def test_the_second_text_begins_behind_the_first_mark() -> None:
    tokens = torch.tensor([[CLS, 7, SEP, 8, 9, SEP, PAD], [CLS, 7, 8, SEP, PAD, PAD, PAD]])
    assert segments(tokens, SEP).tolist() == [[0, 0, 0, 1, 1, 1, 0], [0] * 7]


def test_special_tokens_are_never_guessed(pieces: WordPiece) -> None:
    network = model(len(pieces))
    with torch.no_grad():
        network.bias[:5] = 100.0
    (guesses,) = fill(network, pieces, "the [MASK] ran", most=len(pieces))
    assert len(guesses) == len(pieces) - 5 and sum(p for _, p in guesses) == pytest.approx(1)
    assert not any(word.startswith("[") for word, _ in guesses)


def test_a_long_sentence_is_tagged_in_parts(pieces: WordPiece) -> None:
    words = ["the", "park", "running"] * 20
    tags = [6, 8, 16] * 20
    x, y = ewt_bert.split([Sentence(words, tags, "", 1)], pieces)
    assert len(x) > 2 and (x[:, 0] == CLS).all()
    assert y[y > 0].tolist() == tags
    first = [pieces.encode(word)[0] for word in words]
    assert x[y > 0].tolist() == first and TAGS[16] == "VERB"
    assert (x == SEP).sum(1).eq(1).all()


def test_a_tag_counts_the_same_in_a_short_and_in_a_long_sentence(few_texts: Path) -> None:
    torch.manual_seed(0)
    output, y = torch.randn(3, 5, len(TAGS)), torch.tensor([[0, 3, 0], [1, 2, 9], [0, 0, 4]])
    y = F.pad(y, (1, 1))
    wanted = F.cross_entropy(output[:, :, 1:][y > 0], y[y > 0] - 1)
    torch.testing.assert_close(ewt_bert.per_word(output, y).mean(), wanted)
    recipe = ewt_bert.Recipe(pieces=120, **SMALL)
    data = recipe.data(few_texts)
    loss = recipe.objective(data).minimized
    words = (data.train.y > 0).sum(1).double().mean().item()
    assert loss(output[:1], y[:1]).item() == pytest.approx(
        F.cross_entropy(output[:1, :, 1:][y[:1] > 0], y[:1][y[:1] > 0] - 1).item() / words
    )


def long_question() -> Question:
    passage = "the old dog ran and " * 6 + "the cat sat to the park"
    return Question("who sat", passage, (Answer(passage.index("cat"), "cat"),), "")


def test_windows_cover_the_passage_and_one_at_least_holds_the_answer(pieces: WordPiece) -> None:
    question = long_question()
    found = windows([question], pieces)
    assert len(found) > 3
    read = [place for window in found for place in window.offsets]
    assert {*range(len(question.passage))} - {k for a, b in read for k in range(a, b)} == {
        k for k, c in enumerate(question.passage) if c == " "
    }
    holding = [window for window in found if window.answer != (0, 0)]
    assert holding
    for window in holding:
        a, b = (place - window.start for place in window.answer)
        assert question.passage[window.offsets[a][0] : window.offsets[b][1]] == "cat"
        assert len(window.tokens) <= pieces.max_length


def test_the_best_legal_span_of_all_windows_is_the_answer(pieces: WordPiece) -> None:
    question = long_question()
    found = windows([question], pieces)
    holding = next(k for k, window in enumerate(found) if window.answer != (0, 0))
    output = torch.zeros(len(found), pieces.max_length, 2)
    output[:, 0] = 5.0  # not here
    first, last = found[holding].answer
    output[holding, 0], output[holding, first, 0], output[holding, last, 1] = 0.0, 5.0, 5.0
    output[:, 1] = 9.0  # in the question, where no answer may be
    (best,) = answered(output, found, [question], longest=3)
    assert best.text == "cat" and 0 < best.probability < 1
    mask = inside(found, pieces.max_length)
    assert not mask[:, :4].any() and (rows(found, pieces.max_length)[mask] > MASK).all()


def test_a_question_reads_its_passage_as_the_second_text(pieces: WordPiece) -> None:
    torch.manual_seed(0)
    network = BertQuestionAnswering(BERT(len(pieces), 16, 8, 2, 2, 0.0)).eval()
    question = Question("who ran", "the dog ran", (), "")
    tokens, kinds, _ = pieces.encode_question(question.text, question.passage)
    x = torch.tensor([tokens])
    with torch.no_grad():
        direct = network(x, torch.tensor([kinds]))
        torch.testing.assert_close(Paired(network, SEP)(x), direct)
        assert not torch.allclose(network(x), direct)
    (found,) = ask(Paired(network, SEP), [question], pieces, 3)
    assert found.text and found.text in question.passage


def test_the_commonest_place_is_that_of_most_training_answers(few_texts: Path) -> None:
    from chainrule.recipes.families.span_qa import always, commonest_span

    asked = squad.questions(few_texts)["train"]
    assert commonest_span(asked) == (2, 2)
    assert always((0, 1), [long_question()]) == ["the old"]
    assert always((500, 900), [long_question()]) == ["park"]
