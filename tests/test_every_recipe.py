"""The contract of a recipe file, checked for every file in the folder."""

import ast
import inspect
import json
import re
import shlex
import textwrap
from dataclasses import MISSING, fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from chainrule.cli.options import parse_recipe
from chainrule.cli.train import Train
from chainrule.data import Split, Splits
from chainrule.data.datasets.multi30k import Captions
from chainrule.data.readers.graphs.graph_set import GraphEncoder
from chainrule.data.readers.graphs.link_table import LinkEncoder
from chainrule.data.readers.graphs.node_encoder import NodeEncoder
from chainrule.errors import InputError
from chainrule.registry import Entry, entries, find
from chainrule.runs.configuration import configure, flags
from chainrule.runs.export import export
from chainrule.runs.options import CAPABILITIES, OPTION_OF, RunOptions
from chainrule.runs.recipe import SPLITS, BaseRecipe
from chainrule.runs.record import without_folder
from chainrule.runs.run import Run
from chainrule.serve.choice import inputs_of
from chainrule.training import Settings

RECIPES = entries("recipes")
RESULTS = Path(__file__).parents[1] / "benchmarks" / "results"
CUT = {"mnist", "fashion", "digit", "modelnet10", "multi30k", "shakespeare", "cifar10"}
WHOLE = {"nyse", "citeseer", "cora", "spam", "default"}  # small, or not to be cut
OWN_SETS = {
    "t5",
    "pointnet",
    "deepsets",
    "unet",
    "detr",
}  # kinds of networks whose data no other recipe shares
MADE = {
    "joined_parts": (440, 40),
    "digit_scenes": (1040, 40),
    "digit_boxes": (1040, 40),
}  # examples that these sets make
FEW = 60  # examples of each split; 12 sentences
TRIED = {"epochs": 1, "epoch_steps": 160, "warm_up": 100, "episodes": 2, "test_episodes": 2}
SIZES: dict[str, object] = {"hidden_size": 8, "num_layers": 1, "num_heads": 2}
TINY: dict[str, object] = {"epochs": 1, "num_samples": 50, "hidden_size": 4}
SMALL: dict[str, dict[str, object]] = {
    "cnn": {"filters": (4,)},
    "unet": {"base_channels": 2, "depth": 1},
    "moons-mlp": {"num_samples": 100},
    "xor-mlp": {"num_samples": 100},
    "copy-memory": {"cells": ("gru",), "lengths": (2,), **TINY},
    "adding": {"cells": ("gru",), "lengths": (4,), **TINY},
    "hopfield-digits": {"cues": 2},
    "nyse-rnn": {"hidden_size": 4},
    "forecast": {"hidden_size": 4},
    "tagger": {"embedding_dim": 4, "lstm_size": 4},
    "translate": {"hidden_size": 8, "embedding_dim": 8, "beam_size": 2},
    "imdb-lstm": {"hidden_size": 4, "embedding_dim": 4, "max_length": 10},
    "imdb-lasso": {"strengths": (1.0,)},
    **{
        f"shakespeare-{cell}": {
            "epochs": 1,
            "hidden_size": 8,
            "embedding_dim": 4,
            "batch_size": 2,
            "chunk_length": 16,
        }
        for cell in ("lstm", "gru", "mingru", "lru")
    },
    **{
        f"multi30k-{kind}": {"hidden_size": 8, "embedding_dim": 8, "beam_size": 2}
        for kind in ("gru", "bahdanau")
    },
    **{
        name: {
            "epochs": 1,
            "epoch_steps": 2,
            "context_length": 16,
            **SIZES,
            "batch_size": 2,
        }
        for name in ("gpt", "shakespeare-gpt", "shakespeare-gpt-half-hour")
    },
    "shakespeare-t5": SIZES,
    "shakespeare-scaling": {
        "widths": (8,),
        "steps": (2,),
        "context_length": 16,
        "num_layers": 1,
        "num_heads": 2,
        "batch_size": 2,
    },
    "multi30k-transformer": {"epochs": 1, "feedforward_size": 8, "beam_size": 2, **SIZES},
    "links": {"hidden_size": 4, "size": 4},
    "graphs": {"hidden_size": 4},
    "pointnet": {"features": 16, "num_points": 16, "visible": 8},
    "mnist-pointnet": {"features": 16, "visible": 32},
    "modelnet10-pointnet": {"features": 16, "visible": 64},
    "parts-pointnet": {"features": 16},
    "cartpole-dqn": TRIED,
    "dqn": {"env": "CartPole-v1", **TRIED},
    "mnist-ensemble": {"members": 2},
    "imdb-word2vec": {"vocab_size": 150, "embedding_dim": 4, "window": 2},
    "digits-detr": {"filters": (4, 8), **SIZES},
    "moons-optimizers": {"optimizers": ("adam",), "rates": (0.01,)},
    "digits-batch-size": {"batch_sizes": (512,)},
    "fashion-data-size": {"networks": ("cnn",), "sizes": (40,), "reads": 64},
    "gridworld-q-learning": {"agents": 2, "epochs": 1, "epoch_steps": 50},
    "spam-tuned": {"tricks": ("dropout",), "table_folds": 2, "repeats": 1, "members": 2},
}
BERT = SIZES | {"vocab_size": 120, "max_length": 32}
SMALL |= {
    "bert-pretrain": BERT | {"text": ("ewt", "squad"), "epochs": 1},
    "imdb-bert": BERT | {"vocab_size": 150, "labeled": 20},
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
    needed = entry.name.split("-")[0] in CUT | WHOLE or entry.name in ("digits-unet", "digits-detr")
    return request.getfixturevalue("big_data") if needed else None


@pytest.fixture(scope="module")
def cut() -> dict[str, Splits]:
    """The first examples of data sets that were read before."""
    return {}


@pytest.fixture
def values(
    entry: Entry,
    data: Path | None,
    cut: dict[str, Splits],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> dict[str, Any]:
    """The settings of the recipe at a size for tests."""
    kind, first = entry.load().Recipe, entry.name.split("-")[0]
    values: dict[str, Any] = {}
    if kind.by_gradients():
        sizes = {"epochs": 1, "batch_size": 2048}
        values |= {name: size for name, size in sizes.items() if name not in kind.unsupported}
    values |= SMALL.get(entry.name, {})
    monkeypatch.setattr("chainrule.recipes.families.language_model.SAMPLE_LENGTH", 20)
    monkeypatch.setattr("chainrule.recipes.families.digit_sets.MEASURED", 20)
    for name, sizes in MADE.items():
        for constant, size in zip(("TRAINING", "TEST"), sizes, strict=True):
            monkeypatch.setattr(f"chainrule.data.datasets.{name}.{constant}", size)
    last = entry.name.split("-")[-1]
    if (first in CUT or last in OWN_SETS) and entry.name not in FILES:
        key = entry.name if last in OWN_SETS else first
        if key not in cut:
            cut[key] = first_examples(kind().data(data))
        monkeypatch.setattr(kind, "data", lambda self, folder: cut[key])
    return values | FILES.get(entry.name, lambda *_: {})(tmp_path, data)


def table(folder: Path, _: Path | None) -> dict[str, str]:
    rows = "\n".join(f"{i},{i % 7},{'xz'[i % 2]}" for i in range(60))
    (folder / "table.csv").write_text("a,b,y\n" + rows)
    return {"table": str(folder / "table.csv"), "target": "y"}


def sales(folder: Path, _: Path | None) -> dict[str, Any]:
    rows = "\n".join(f"2024-{1 + i // 28:02}-{1 + i % 28:02},{i % 7}" for i in range(120))
    (folder / "sales.csv").write_text("date,units\n" + rows)
    return {"table": str(folder / "sales.csv"), "time": "date", "target": "units", "horizon": 3}


def reviews(folder: Path, _: Path | None) -> dict[str, Any]:
    rows = "\n".join(f"{'good' if i % 2 else 'dull'} film {i % 7},{i % 2}" for i in range(60))
    (folder / "reviews.csv").write_text("text,label\n" + rows)
    return {"table": str(folder / "reviews.csv"), "text": "text", "target": "label"}


def tags(folder: Path, _: Path | None) -> dict[str, Any]:
    rows = "\n".join(f"word{i % 9}\tN\nruns{i % 7}\tV\n" for i in range(40))
    (folder / "tags.txt").write_text(rows)
    return {"conll": str(folder / "tags.txt")}


def pairs(folder: Path, _: Path | None) -> dict[str, Any]:
    rows = "\n".join(f"the dog {i}\tle chien {i}" for i in range(40))
    (folder / "pairs.tsv").write_text(rows)
    return {"pairs": str(folder / "pairs.tsv")}


def graph(folder: Path, _: Path | None) -> dict[str, str]:
    nodes, edges = folder / "nodes.csv", folder / "edges.csv"
    nodes.write_text("id,a,y\n" + "\n".join(f"{i},{i % 7},{'xz'[i % 2]}" for i in range(60)))
    edges.write_text("from,to\n" + "\n".join(f"{i},{i + 2}" for i in range(58)))
    return {"nodes": str(nodes), "edges": str(edges), "target": "y"}


def links(folder: Path, _: Path | None) -> dict[str, str]:
    return {key: path for key, path in graph(folder, None).items() if key != "target"}


def graphs(folder: Path, _: Path | None) -> dict[str, str]:
    tables = {
        "graphs": ["graph,y", *(f"g{k},{'xz'[k % 2]}" for k in range(30))],
        "nodes": ["graph,id,a", *(f"g{k},{m},{m}" for k in range(30) for m in range(3))],
        "edges": ["graph,from,to", *(f"g{k},{m},{m + 1}" for k in range(30) for m in range(2))],
    }
    for name, rows in tables.items():
        (folder / f"{name}.csv").write_text("\n".join(rows) + "\n")
    return {name: str(folder / f"{name}.csv") for name in tables} | {"target": "y"}


def clouds(folder: Path, _: Path | None) -> dict[str, str]:
    for k in range(60):
        place = folder / "clouds" / "xz"[k % 2]
        place.mkdir(parents=True, exist_ok=True)
        rows = "\n".join(f"{m} {m * (k + 2) % 17} {m % (2 + k % 2)}" for m in range(9))
        (place / f"{k}.xyz").write_text(rows)
    return {"clouds": str(folder / "clouds")}


def pictures(folder: Path, _: Path | None) -> dict[str, str]:
    from PIL import Image

    for i in range(60):
        place = folder / "images" / "xz"[i % 2]
        place.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (8 + i % 3, 8), (i, 200 * (i % 2), 0)).save(place / f"{i}.png")
    return {"images": str(folder / "images")}


def scenes(folder: Path, _: Path | None) -> dict[str, str]:
    from PIL import Image

    for place in ("scenes", "masks"):
        (folder / place).mkdir()
    for i in range(60):
        Image.new("RGB", (8 + i % 3, 8), (i, 3 * i, 0)).save(folder / "scenes" / f"{i}.jpg")
        Image.new("L", (8 + i % 3, 8), 255 * (i % 2)).save(folder / "masks" / f"{i}.png")
    return {"images": str(folder / "scenes"), "masks": str(folder / "masks")}


def text(folder: Path, _: Path | None) -> dict[str, str]:
    (folder / "text.txt").write_text("to be or not to be, that is the question. " * 10)
    return {"text": str(folder / "text.txt")}


def teacher(folder: Path, data: Path | None) -> dict[str, str]:
    logistic = find("recipes", "mnist-logistic")
    configuration = configure(logistic.load().Recipe, {"epochs": 1, "batch_size": 2048})
    list(Run.create(logistic, configuration, folder / "teacher", data).train("cpu", pictures=False))
    return {"teacher": str(folder / "teacher")}


FILES = {
    "cnn": pictures,
    "unet": scenes,
    "text-classifier": reviews,
    "tagger": tags,
    "translate": pairs,
    "forecast": sales,
    "mlp": table,
    "gcn": graph,
    "links": links,
    "graphs": graphs,
    "pointnet": clouds,
    "gpt": text,
    "mnist-distill": teacher,
}


def first_examples(data: Splits) -> Splits:
    """A few of each split."""
    few = 12 if isinstance(data, Captions) else FEW
    if data.train.x.ndim == 1:  # one text, of which a window must fit
        few = 200
    parts: dict[str, Any] = {
        name: Split(*(t[:few] for t in getattr(data, name))) for name in SPLITS
    }
    if isinstance(data, Captions):
        parts["references"] = {name: lines[:few] for name, lines in data.references.items()}
    return replace(data, **parts)


def test_the_folder_holds_recipes() -> None:
    assert {"digits-mlp", "mnist-mlp-dropout", "hopfield-digits"} <= {e.name for e in RECIPES}


@every_recipe
def test_it_says_what_it_is_and_where_it_comes_from(entry: Entry) -> None:
    kind = entry.load().Recipe
    assert is_dataclass(kind) and issubclass(kind, BaseRecipe)
    assert kind.reference
    assert entry.title[0].isupper()
    assert "seed" in {flag.name for flag in flags(kind)}


@every_recipe
def test_it_inherits_from_one_family_at_most(entry: Entry) -> None:
    """recipe → family → BaseRecipe; dataclasses of settings alone may be mixed in."""
    kind = entry.load().Recipe
    recipes = [base for base in kind.__mro__ if issubclass(base, BaseRecipe)]
    assert len(recipes) <= 3 and recipes[-1] is BaseRecipe, recipes


@every_recipe
def test_every_flag_is_explained_in_a_sentence(entry: Entry) -> None:
    for flag in flags(entry.load().Recipe):
        assert flag.help.rstrip().endswith((".", "…")), f"{flag.name}: {flag.help!r}"
        assert not flag.help[0].isspace()


@every_recipe
def test_what_it_does_not_support_is_known_has_a_reason_and_no_flag(entry: Entry) -> None:
    kind = entry.load().Recipe
    names = {flag.name for flag in flags(kind)}
    settings = {field.name for field in fields(Settings)}
    for what, reason in kind.unsupported.items():
        assert what in CAPABILITIES or what in settings, what
        assert len(reason.split()) > 3, reason
        hidden = {option for option, capability in OPTION_OF.items() if capability == what}
        assert not names & {what, *hidden} - {field.name for field in fields(kind)}
    if not kind.by_gradients():
        assert set(CAPABILITIES) - {"predict", "export"} <= set(kind.unsupported)
        assert not names & set(OPTION_OF)


@every_recipe
def test_fields_that_change_the_data_are_declared(entry: Entry) -> None:
    """Read from the source of `data` and of the methods that it calls."""
    kind = entry.load().Recipe
    if "tune" not in kind.unsupported:
        own = {field.name for field in fields(kind)} - {"settings"}
        used = attributes_used(kind, "data") & own
        assert used <= {*kind.data_fields, "seed"}


def attributes_used(kind: type, method: str, seen: frozenset[str] = frozenset()) -> set[str]:
    """Every `self.name` in a method and in the methods that it calls through self."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(getattr(kind, method))))
    found = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "self"
    }
    seen |= {method}
    calls = [name for name in found - seen if inspect.isfunction(getattr(kind, name, None))]
    return found.union(*(attributes_used(kind, name, seen) for name in calls))


@every_recipe
def test_its_settings_survive_json(entry: Entry) -> None:
    for flag in flags(entry.load().Recipe):
        if flag.default is not MISSING:
            back = json.loads(json.dumps(flag.default))
            assert (tuple(back) if isinstance(back, list) else back) == flag.default


@every_recipe
def test_it_runs_from_folder_to_result_and_can_be_measured_again(
    entry: Entry, values: dict[str, Any], data: Path | None, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    run = Run.create(entry, configure(entry.load().Recipe, values), folder, data)
    records = [progress.record for progress in run.train("cpu") if progress.record]
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
    again = Run.load(folder)
    assert again.evaluate() == result["metrics"]
    saved = load_file(folder / "model.safetensors")
    assert all(torch.equal(saved[name], t) for name, t in again.model.state_dict().items())
    leaves_by_the_door(again)


def test_published_results_name_a_split_and_a_metric() -> None:
    for entry in RECIPES:
        for result in entry.load().Recipe.published:
            split, metric = result.metric.split(" ", 1)
            assert split in ("train", "validation", "test")
            assert metric and result.source and result.value > 0


def leaves_by_the_door(run: Run) -> None:
    """It is exported as plain weights and served, or refused with the recipe's own reason."""
    reason = run.recipe.unsupported.get("predict", "")
    if reason:
        with pytest.raises(InputError, match=re.escape(reason)):
            export(run, "state-dict")
    else:
        assert export(run, "state-dict").difference == 0
    if reason or isinstance(run.summary.encoder, NodeEncoder | LinkEncoder | GraphEncoder):
        with pytest.raises(InputError, match=re.escape(reason) or "which a service does not read"):
            inputs_of(run)
    else:
        served(run)


def served(run: Run) -> None:
    """The service answers the example of its own document."""
    inputs = inputs_of(run)
    examples, size = inputs.read(inputs.schema()["example"])
    (answers,) = inputs.answer([examples])
    assert size == len(answers) == 1 and "prediction" in json.loads(json.dumps(answers))[0]


@pytest.mark.parametrize("path", sorted(RESULTS.glob("*.json")), ids=lambda path: path.stem)
def test_a_recorded_command_still_gives_the_recorded_settings(path: Path) -> None:
    kind = find("recipes", path.stem).load().Recipe
    for run in json.loads(path.read_text("utf-8"))["runs"]:
        program, command, name, *words = shlex.split(run["command"])
        assert (program, command, name) == ("chainrule", "train", path.stem)
        configuration, _ = parse_recipe(kind, Train, words, f"train {name}", "")
        now = json.loads(json.dumps(without_folder(configuration.values())))
        later = {name: now.pop(name) for name in [*now] if name not in run["settings"]}
        assert now == run["settings"]
        neutral = vars(Settings()) | vars(RunOptions())
        assert later == {name: neutral[name] for name in later}  # unknown when recorded
