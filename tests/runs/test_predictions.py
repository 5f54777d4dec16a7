"""Predictions are computed once: metrics, comparisons, pictures and texts share them."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from statistics import StatisticsError
from typing import Any

import pytest
import torch
from torch import nn

from chainrule.recipes.attention import imdb_bert, squad_bert
from chainrule.recipes.families import translation
from chainrule.recipes.feedforward import digits_mlp
from chainrule.recipes.recurrent import multi30k_gru
from chainrule.runs import ensembles
from chainrule.runs.configuration import Configuration
from chainrule.runs.execute import compared, draw
from chainrule.runs.measures import measure
from chainrule.runs.options import RunOptions
from chainrule.runs.predictions import SPLITS, Predictions
from chainrule.runs.recipe import BaseRecipe
from chainrule.runs.run import build


def everything(recipe: BaseRecipe, model: nn.Module, data: Any, folder: Path) -> Predictions:
    """All that a finished run asks of its predictions."""
    predictions = Predictions(recipe, model, data)
    measure(predictions)
    compared(Configuration(recipe), predictions)
    draw(predictions, [], folder)
    recipe.texts(predictions)
    return predictions


def counted(model: nn.Module) -> Counter[str]:
    """Rows that pass through the model from now on."""
    seen: Counter[str] = Counter()
    model.register_forward_hook(lambda _, inputs, __: seen.update(rows=len(inputs[0])))
    return seen


def rows(data: Any) -> int:
    return sum(len(getattr(data, split).x) for split in SPLITS)


def counting(function: Callable[..., Any], calls: Counter[str]) -> Callable[..., Any]:
    def wrapped(*arguments: Any) -> Any:
        calls[function.__name__] += 1
        return function(*arguments)

    return wrapped


def test_a_translation_recipe_decodes_each_split_once(
    captions: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: Counter[str] = Counter()
    for name in ("beam_search", "greedy"):
        monkeypatch.setattr(translation, name, counting(getattr(translation, name), calls))
    scored: list[int] = []
    score = translation.Likelihood.score
    monkeypatch.setattr(
        translation.Likelihood,
        "score",
        lambda self, source, target: scored.append(len(source)) or score(self, source, target),
    )
    recipe = multi30k_gru.Recipe(hidden_size=4, embedding_dim=4, beam_size=2)
    model = build(Configuration(recipe), recipe.summarize(captions))
    everything(recipe, model, captions, tmp_path)
    assert calls["beam_search"] == 2  # validation and test
    assert calls["greedy"] == 1  # the test without a beam, for comparison
    assert sum(scored) == rows(captions)


def test_every_member_of_an_ensemble_sees_every_example_once(tmp_path: Path) -> None:
    recipe = digits_mlp.Recipe(hidden=(4,))
    data = recipe.data(None)
    configuration = Configuration(recipe, RunOptions(members=3))
    model = build(configuration, recipe.summarize(data))
    seen = [counted(member) for member in model.members]
    predictions = everything(recipe, model, data, tmp_path)
    assert [each["rows"] for each in seen] == [rows(data)] * 3
    x = data.test.x
    model.eval()
    mean = torch.stack([member(x).softmax(1) for member in model.members]).mean(0)
    torch.testing.assert_close(predictions.outputs("test").softmax(1), mean)
    alone = predictions.member(1)
    torch.testing.assert_close(alone.outputs("test"), model.members[1](x))


def test_imdb_bert_reads_every_review_once(few_reviews: Path, tmp_path: Path) -> None:
    pytest.importorskip("tokenizers")
    sizes = {"hidden_size": 8, "num_layers": 1, "num_heads": 2, "max_length": 16, "windows": 1}
    recipe = imdb_bert.Recipe(labeled=10, vocab_size=150, **sizes)
    data = recipe.data(few_reviews)
    model = build(Configuration(recipe), recipe.summarize(data))
    seen = counted(model)
    everything(recipe, model, data, tmp_path)
    assert seen["rows"] == rows(data)


def test_squad_bert_answers_every_question_once(few_texts: Path, tmp_path: Path) -> None:
    pytest.importorskip("tokenizers")
    sizes = {"hidden_size": 8, "num_layers": 1, "num_heads": 2, "max_length": 32}
    recipe = squad_bert.Recipe(vocab_size=120, **sizes)
    data = recipe.data(few_texts)
    model = build(Configuration(recipe), recipe.summarize(data))
    seen = counted(model)
    everything(recipe, model, data, tmp_path)
    few = len(data.questions["validation"])  # of the training questions as many
    train = sum(window.question < few for window in data.windows["train"])
    assert seen["rows"] == train + len(data.validation.x) + len(data.test.x)


def test_a_metric_that_is_not_defined_has_no_spread() -> None:
    assert ensembles.spread([1.0, 3.0]) == 1.0
    assert ensembles.spread([1.0, float("nan")]) != ensembles.spread([1.0, float("nan")])
    with pytest.raises(StatisticsError):
        ensembles.spread([])
