"""Recipes of text: writing, translating and judging from the command line."""

import json
import shlex
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from chainrule.data import Split
from chainrule.data.datasets.multi30k import Captions
from chainrule.data.splits import Splits
from chainrule.data.text.vocabulary import (
    SPECIAL,
    Vocabulary,
    character_vocabulary,
)
from chainrule.errors import InputError
from chainrule.learning.bleu import bleu
from chainrule.models.recurrent.seq2seq import Seq2Seq
from chainrule.recipes.families.forecasting import persistence
from chainrule.recipes.families.translation import Likelihood, perplexity, weighted
from chainrule.recipes.feedforward import imdb_lasso
from chainrule.recipes.recurrent import multi30k_bahdanau, shakespeare_gru
from chainrule.runs.generate import default_prompt, sample
from chainrule.runs.run import Run

TEXT = "to be or not to be, that is the question. " * 8


def plays() -> Splits:
    vocabulary = character_vocabulary(TEXT)
    tokens = torch.tensor(vocabulary.encode(TEXT))
    part = Split(tokens[:-1], tokens[1:])
    return Splits(part, part, part, vocabulary.tokens, vocabulary)


@pytest.fixture(scope="module")
def runs(
    tmp_path_factory: pytest.TempPathFactory,
    train_run: Callable[..., Run],
    few_reviews: Path,
    captions: Captions,
) -> Path:
    """A language model, a translator and a judge of reviews, all quickly trained."""
    folder = tmp_path_factory.mktemp("runs")
    small = {"hidden_size": 16, "embedding_dim": 8, "learning_rate": 0.02}
    recipes = {
        "shakespeare-gru": {"epochs": 8, "batch_size": 4, "chunk_length": 16} | small,
        "multi30k-bahdanau": {"epochs": 25, "batch_size": 10, "dropout": 0.0} | small,
        "imdb-lasso": {"strengths": (1.0, 10.0)},
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shakespeare_gru.Recipe, "data", lambda self, folder: plays())
        patch.setattr(multi30k_bahdanau.Recipe, "data", lambda self, folder: captions)
        for name, values in recipes.items():
            train_run(name, folder / name, few_reviews, **values)
    return folder


def test_the_same_seed_writes_the_same_text(runs: Path, answer: Callable[[str], str]) -> None:
    run = f"generate {runs / 'shakespeare-gru'} --prompt 'to be' --length 40"
    first, again, other = (answer(f"{run} --seed {seed}") for seed in (1, 1, 2))
    assert first == again != other
    assert first.startswith("to be") and len(first) == len("to be\n") + 40
    found = json.loads(answer(f"{run} --seed 1 --json"))
    assert found == {"prompt": "to be", "text": first[:-1]}
    sure = answer(f"{run} --temperature 0 --seed 1")
    assert sure == answer(f"{run} --temperature 0 --seed 2")
    assert sure == answer(f"{run} --top-k 1 --seed 3")
    assert sure == answer(f"{run} --top-p 0.01 --seed 3")


def test_samples_and_translations_lie_in_the_run_folder(runs: Path) -> None:
    samples = (runs / "shakespeare-gru/samples.txt").read_text("utf-8")
    assert [f"temperature {t}" in samples for t in ("0.5", "0.8", "1")] == [True] * 3
    lines = (runs / "multi30k-bahdanau/translations.txt").read_text("utf-8").split("\n\n")
    assert len(lines) == 60 and all(len(entry.strip().split("\n")) == 3 for entry in lines)
    assert (runs / "multi30k-bahdanau/alignment.png").stat().st_size > 5_000
    assert (runs / "multi30k-bahdanau/bleu-by-length.png").stat().st_size > 5_000


def test_a_sentence_is_translated(
    runs: Path, answer: Callable[[str], str], refusal: Callable[[str], str], tmp_path: Path
) -> None:
    """As in the run's own file of translations, from the command line and from a file."""
    result = json.loads((runs / "multi30k-bahdanau/result.json").read_text("utf-8"))
    assert result["metrics"]["test"]["bleu"] > 80
    entries = (runs / "multi30k-bahdanau/translations.txt").read_text("utf-8").split("\n\n")
    rows = [entry.strip().split("\n") for entry in entries[:4]]
    expected = [{"input": german.upper(), "prediction": ours} for german, _, ours in rows]
    command = f"predict {runs / 'multi30k-bahdanau'}"
    quoted = " ".join(shlex.quote(row["input"]) for row in expected)
    assert json.loads(answer(f"{command} {quoted} --json"))["predictions"] == expected
    file = tmp_path / "sätze.txt"
    file.write_text("\n".join(row["input"] for row in expected), "utf-8")
    found = json.loads(answer(f"{command} {file} --json"))
    assert found["predictions"] == expected
    assert "expected words, got ' '" in refusal(f"{command} ' '")


def test_a_review_is_judged(runs: Path, answer: Callable[[str], str]) -> None:
    command = f"predict {runs / 'imdb-lasso'} 'a lovely, great film' 'dull and awful' --json"
    found = json.loads(answer(command))["predictions"]
    assert [row["prediction"] for row in found] == ["positive", "negative"]
    assert sum(found[0]["probabilities"].values()) == pytest.approx(1)


def test_what_cannot_be_written_or_read_is_refused(
    runs: Path, refusal: Callable[[str], str]
) -> None:
    writer, judge = runs / "shakespeare-gru", runs / "imdb-lasso"
    for command, words in (
        (f"generate {judge}", "does not write text"),
        (f"generate {writer} --prompt ''", "the prompt is empty"),
        (f"generate {writer} --prompt 'été'", "the prompt holds 'é'"),
        (f"generate {writer} --length 0", "--length must be from 1"),
        (f"generate {writer} --temperature -1", "must be 0 or more"),
        (f"generate {writer} --temperature nan", "must be 0 or more"),
        (f"generate {writer} --temperature 1e300", "got temperature 1e+300"),
        (f"generate {writer} --top-k -1", "must be 0 or more"),
        (f"generate {writer} --top-p 0", "--top-p must be above 0 and at most 1"),
        (f"generate {writer} --top-p nan", "--top-p must be above 0 and at most 1"),
        (f"generate {writer} --seed -1", "--seed must be from 0"),
        (f"generate {runs}", "is not a run folder"),
        (f"predict {writer} 'to be'", "chainrule generate"),
        (f"predict {judge} '   '", "expected words"),
    ):
        assert words in refusal(command), command


def test_settings_for_single_labels_are_refused() -> None:
    with pytest.raises(InputError, match="a translation has one label per word"):
        multi30k_bahdanau.Recipe.configured(class_weights="balanced")
    with pytest.raises(InputError, match="`beam_size` must be at least 1"):
        multi30k_bahdanau.Recipe(beam_size=0)
    with pytest.raises(InputError, match="`strengths` must be numbers above 0"):
        imdb_lasso.Recipe(strengths=(0.0,))


def small_translator() -> Seq2Seq:
    torch.manual_seed(0)
    return Seq2Seq(10, 10, "gru", 4, 6)


def test_the_loss_is_the_mean_over_words_not_over_sentences(captions: Captions) -> None:
    model = small_translator().eval()
    source, target, w = weighted(captions.train)
    log_p = Likelihood(model)(source, target)
    logits = model(source, target[:, :-1]).flatten(0, 1)
    mean = torch.nn.functional.cross_entropy(logits, target[:, 1:].flatten(), ignore_index=0)
    assert (-w * log_p).mean().item() == pytest.approx(mean.item(), rel=1e-5)
    assert perplexity(log_p, w) == pytest.approx(mean.exp().item(), rel=1e-5)


def test_many_pairs_are_measured_in_parts_and_in_their_order(
    captions: Captions, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = Likelihood(small_translator()).eval()
    source, target, _ = weighted(captions.train)
    whole = model(source, target)
    monkeypatch.setattr("chainrule.recipes.families.translation.AT_ONCE", 7)
    torch.testing.assert_close(model(source, target), whole)


def test_bleu_is_100_for_the_reference_and_less_for_a_shorter_one() -> None:
    truth = ["A man in an orange hat.", "Two dogs run over the grass."]
    same = ["a man in an orange hat .", "two dogs run over the grass ."]
    assert bleu(same, truth) == pytest.approx(100)
    assert 20 < bleu(["a man in an orange hat", "two dogs run"], truth) < 70
    with pytest.raises(InputError, match="2 for 1"):
        bleu(["one"], truth)


def test_the_baseline_says_what_was_yesterday() -> None:
    x = torch.randn(10, 5, 3)
    part = Split(x, x[:, -1, 1].clone())
    assert persistence(Splits(part, part, part))["test"]["r2"] == 1
    later = replace(Splits(part, part, part), test=Split(x, x[:, 0, 1].clone()))
    assert persistence(later)["test"]["r2"] < 0.9


def test_the_lasso_leaves_most_words_out(runs: Path) -> None:
    result = json.loads((runs / "imdb-lasso/result.json").read_text("utf-8"))
    assert result["metrics"]["test"]["accuracy"] > 0.95
    assert 0 < result["metrics"]["test"]["words"] < 15


def test_words_are_written_with_spaces() -> None:
    class Parrot:
        def generate(
            self,
            prompt: torch.Tensor,
            max_new_tokens: int,
            temperature: float = 1.0,
            top_k: int = 0,
            generator: torch.Generator | None = None,
            top_p: float = 1.0,
            suppress_tokens: Sequence[int] = (),
        ) -> torch.Tensor:
            return prompt.repeat(max_new_tokens)

    assert sample(Parrot(), Vocabulary((*SPECIAL, "la")), "la", 2) == "la la la"


def test_a_text_without_lines_begins_with_its_first_character() -> None:
    assert default_prompt(character_vocabulary("cab\n")) == "\n"
    assert default_prompt(character_vocabulary("cab")) == "a"
