"""The contract of a recipe file, checked for every file in the folder."""

import json
from dataclasses import MISSING, fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from chainrule.data import Split, Splits
from chainrule.data.datasets.multi30k import Captions
from chainrule.registry import Entry, entries, find
from chainrule.runs.recipe import SPLITS, Experiment, Trained
from chainrule.runs.run import begin, carry_on, measure_again, open_model

RECIPES = entries("recipes")
BIG = {
    "nyse",
    "shakespeare",
    "multi30k",
    "mnist",
    "fashion",
    "spam",
    "default",
    "digit",
    "modelnet10",
    "citeseer",
    "cora",
}
CONVOLVING = {"cnn", "lenet", "resnet20", "plain20", "unet"}  # too slow for whole data sets
CONVOLVING |= {"deepsets", "pointnet", "vit"}
TEXT = {"shakespeare", "multi30k"}
TRIED = {"epochs": 1, "epoch_steps": 160, "warm_up": 100, "episodes": 2, "test_episodes": 2}
SMALL: dict[str, dict[str, object]] = {
    "moons-mlp": {"number": 100},
    "xor-mlp": {"number": 100},
    "copy-memory": {"cells": ("gru",), "lengths": (2,), "epochs": 1, "number": 50, "width": 4},
    "adding": {"cells": ("gru",), "lengths": (4,), "epochs": 1, "number": 50, "width": 4},
    "hopfield-digits": {"cues": 2},
    "nyse-rnn": {"width": 4},
    "imdb-lstm": {"width": 4, "embedding": 4, "length": 10},
    "imdb-lasso": {"strengths": (1.0,)},
    **{
        f"shakespeare-{cell}": {
            "epochs": 1,
            "width": 8,
            "embedding": 4,
            "batch_size": 2,
            "piece": 16,
        }
        for cell in ("lstm", "gru", "mingru", "lru")
    },
    **{
        f"multi30k-{kind}": {"epochs": 1, "width": 8, "embedding": 8, "beam": 2}
        for kind in ("gru", "bahdanau")
    },
    **{
        name: {
            "epochs": 1,
            "epoch_steps": 2,
            "context": 16,
            "width": 8,
            "depth": 1,
            "heads": 2,
            "batch_size": 2,
        }
        for name in ("gpt", "shakespeare-gpt", "shakespeare-gpt-half-hour")
    },
    "multi30k-transformer": {
        "epochs": 1,
        "width": 8,
        "depth": 1,
        "heads": 2,
        "hidden": 8,
        "beam": 2,
    },
    "mnist-pointnet": {"features": 16, "visible": 32},
    "modelnet10-pointnet": {"features": 16, "visible": 64},
    "parts-pointnet": {"features": 16},
    **{f"{name}-{kind}": {"epochs": 1} for name in ("cora", "citeseer") for kind in ("gat", "gcn")},
    "cora-cheb": {"epochs": 1},
    "karate-gcn": {"epochs": 1},
    "random-graphs-gnn": {"epochs": 1},
    "cartpole-dqn": TRIED,
    "dqn": {"env": "CartPole-v1", **TRIED},
    "gridworld-q-learning": {"agents": 2, "epochs": 1, "epoch_steps": 50},
    "spam-tuned": {"tricks": ("dropout",), "table_folds": 2, "repeats": 1, "members": 2},
}
BERT: dict[str, object] = {"pieces": 120, "length": 32, "width": 8, "depth": 1, "heads": 2}
SMALL |= {
    "bert-pretrain": BERT | {"text": ("ewt", "squad"), "epochs": 1},
    "imdb-bert": BERT | {"pieces": 150, "labeled": 20},
    "ewt-bert": BERT,
    "squad-bert": BERT,
}
every_recipe = pytest.mark.parametrize("entry", RECIPES, ids=lambda entry: entry.name)


@pytest.fixture
def data(entry: Entry, request: pytest.FixtureRequest) -> Path | None:
    """The folder of the big data sets where the recipe needs one of them."""
    if entry.name.startswith("cifar10-"):
        return request.getfixturevalue("cifar10_data")
    if entry.name.startswith("imdb-"):
        return request.getfixturevalue("few_reviews")
    if entry.name in ("bert-pretrain", "ewt-bert", "squad-bert"):
        return request.getfixturevalue("few_texts")
    needed = entry.name.split("-")[0] in BIG or entry.name == "digits-unet"
    return request.getfixturevalue("big_data") if needed else None


@pytest.fixture
def recipe(
    entry: Entry, data: Path | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Experiment:
    """The recipe at a size for tests."""
    settings: dict[str, object] = dict(SMALL.get(entry.name, {}))
    kind = entry.load().Recipe
    if entry.name.split("-")[0] in TEXT or entry.name == "gpt":
        monkeypatch.setattr("chainrule.recipes.families.language_model.WRITTEN", 20)
    if entry.name.split("-")[-1] in CONVOLVING or entry.name.split("-")[0] in TEXT:
        few = first_examples(kind().data(data))
        monkeypatch.setattr(kind, "data", lambda self, folder: few)
    if issubclass(kind, Trained):
        settings |= {"epochs": 1, "batch_size": 2048}
    if entry.name == "mlp":
        table = tmp_path / "table.csv"
        table.write_text("a,b,y\n" + "\n".join(f"{i},{i % 7},{'xz'[i % 2]}" for i in range(60)))
        settings |= {"table": str(table), "target": "y"}
    if entry.name == "gcn":
        nodes, edges = tmp_path / "nodes.csv", tmp_path / "edges.csv"
        nodes.write_text("id,a,y\n" + "\n".join(f"{i},{i % 7},{'xz'[i % 2]}" for i in range(60)))
        edges.write_text("from,to\n" + "\n".join(f"{i},{i + 2}" for i in range(58)))
        settings |= {"nodes": str(nodes), "edges": str(edges), "target": "y", "epochs": 1}
    if entry.name == "gpt":
        text = tmp_path / "text.txt"
        text.write_text("to be or not to be, that is the question. " * 10)
        settings |= {"text": str(text)}
    if entry.name == "mnist-distill":
        teacher = find("recipes", "mnist-logistic").load().Recipe(epochs=1, batch_size=2048)
        begin("mnist-logistic", teacher, tmp_path / "teacher", data)
        list(carry_on(tmp_path / "teacher", "cpu"))
        settings["teacher"] = str(tmp_path / "teacher")
    if entry.name == "mnist-ensemble":
        settings["members"] = 2
    return kind(**settings)


def first_examples(data: Splits) -> Splits:
    """200 of each split."""
    parts: dict[str, Any] = {
        name: Split(*(t[:200] for t in getattr(data, name))) for name in SPLITS
    }
    if isinstance(data, Captions):
        parts = {name: Split(*(t[:12] for t in part)) for name, part in parts.items()}
        parts["references"] = {name: lines[:12] for name, lines in data.references.items()}
    return replace(data, **parts)


def test_the_folder_holds_recipes() -> None:
    assert {"digits-mlp", "mnist-mlp-dropout", "hopfield-digits"} <= {e.name for e in RECIPES}


@every_recipe
def test_it_says_what_it_is_and_where_it_comes_from(entry: Entry) -> None:
    kind = entry.load().Recipe
    assert is_dataclass(kind)
    assert issubclass(kind, Experiment)
    assert kind.notes
    assert entry.title[0].isupper()
    assert "seed" in {field.name for field in fields(kind)}


@every_recipe
def test_every_flag_of_its_own_is_explained(entry: Entry) -> None:
    kind = entry.load().Recipe
    inherited = {
        field.name for base in kind.__mro__[1:] if is_dataclass(base) for field in fields(base)
    }
    source = entry.path.read_text("utf-8").splitlines()
    for field in fields(kind):
        if field.name not in inherited:
            line = next(i for i, text in enumerate(source) if text.startswith(f"    {field.name}:"))
            assert source[line + 1].strip().startswith('"""'), field.name


@every_recipe
def test_its_settings_survive_json(entry: Entry) -> None:
    kind = entry.load().Recipe
    for field in fields(kind):
        if field.default is not MISSING:
            back = json.loads(json.dumps(field.default))
            assert (tuple(back) if isinstance(back, list) else back) == field.default


@every_recipe
def test_it_runs_from_folder_to_result_and_can_be_measured_again(
    entry: Entry, recipe: Experiment, data: Path | None, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    begin(entry.name, recipe, folder, data)
    records = [progress.record for progress in carry_on(folder, "cpu") if progress.record]
    result = json.loads((folder / "result.json").read_text("utf-8"))
    assert result["recipe"] == entry.name
    assert result["epochs"] == len(records) == 1
    assert result["parameters"] > 0
    assert result["stopped"]
    for split in result["metrics"].values():
        assert all(abs(value) < float("inf") for value in split.values())
    lines = (folder / "metrics.jsonl").read_text("utf-8").splitlines()
    assert [json.loads(line) for line in lines] == records
    assert sorted(folder.glob("*.png"))
    assert measure_again(folder)["metrics"] == result["metrics"]
    _, model, _ = open_model(folder)
    saved = load_file(folder / "model.safetensors")
    assert all(torch.equal(saved[name], t) for name, t in model.state_dict().items())


def test_published_figures_name_a_split_and_a_metric() -> None:
    for entry in RECIPES:
        for figure in entry.load().Recipe.published:
            split, metric = figure.metric.split(" ", 1)
            assert split in ("train", "validation", "test")
            assert metric and figure.source and figure.value > 0
