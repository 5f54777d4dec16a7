"""Starting from another run: what is taken, what is not and why, which head, what stays frozen."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from chainrule.cli.main import main
from chainrule.data import Split, Splits
from chainrule.data.datasets import cifar10
from chainrule.errors import InputError
from chainrule.models.attention.bert import BERT
from chainrule.models.attention.bert_classifier import BertClassifier
from chainrule.recipes.attention import imdb_bert, mnist_vit
from chainrule.recipes.feedforward import digits_mlp, mlp
from chainrule.recipes.geometric import cora_gat
from chainrule.recipes.recurrent import imdb_lstm
from chainrule.runs.configuration import Configuration, configure
from chainrule.runs.execute import start_from
from chainrule.runs.recipe import BaseRecipe, DataSummary
from chainrule.runs.run import Run, build
from chainrule.runs.transfer import head_tensors, transfer

SMALL = {"hidden": (16,), "epochs": 1, "batch_size": 512}
TrainRun = Callable[..., Run]


@pytest.fixture(scope="module")
def source(train_run: TrainRun, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run on digits of 64-16-10."""
    return train_run("digits-mlp", tmp_path_factory.mktemp("source") / "digits", **SMALL).folder


def write_table(path: Path, classes: str) -> str:
    rows = "\n".join(f"{i % 7},{i % 5},{classes[i % len(classes)]}" for i in range(60))
    path.write_text(f"a,b,y\n{rows}\n")
    return str(path)


def test_a_run_tells_what_it_took_and_what_it_did_not_and_why(
    source: Path, train_run: TrainRun, tmp_path: Path
) -> None:
    deeper = SMALL | {"hidden": (16, 8), "learning_rate": 1e-9, "from_run": str(source)}
    run = train_run("digits-mlp", tmp_path / "run", **deeper)
    wanted = (
        "2 of 6 tensors taken from digits; other shape, so new: layers.1.weight, layers.1.bias; "
        "not in the source, so new: layers.2.weight, layers.2.bias"
    )
    assert run.remarks[-1] == wanted
    assert json.loads((run.folder / "result.json").read_text("utf-8"))["remarks"][-1] == wanted
    ours, theirs = (load_file(f / "model.safetensors") for f in (run.folder, source))
    torch.testing.assert_close(ours["layers.0.weight"], theirs["layers.0.weight"])


def test_weights_that_fit_nowhere_are_refused_before_training(
    source: Path, train_run: TrainRun, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="no weight matrix of digits fits this network"):
        train_run("moons-mlp", tmp_path / "run", from_run=str(source))
    assert not (tmp_path / "run" / "checkpoints").exists()
    norms = {"norm.weight": torch.ones(8), "norm.num_batches_tracked": torch.tensor(5)}
    model = torch.nn.Sequential(torch.nn.Linear(8, 8))
    with pytest.raises(InputError, match="no weight matrix of other fits"):
        transfer(model, norms, "other")


def test_a_source_of_less_than_half_of_the_weights_is_refused() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Linear(8, 32))
    first = {name: t.clone() for name, t in model.state_dict().items() if name.startswith("0.")}
    with pytest.raises(
        InputError, match=r"only 20% of the weights .* not there: 1\.weight, 1\.bias"
    ):
        transfer(model, first, "other")
    transfer(model, first, "other", ("1.weight", "1.bias"))  # all besides the head


@pytest.mark.parametrize(("classes", "kept"), [("uv", True), ("xz", False)])
def test_the_head_is_kept_for_the_same_classes_and_new_for_as_many_others(
    classes: str, kept: bool, train_run: TrainRun, tmp_path: Path
) -> None:
    first = {"table": write_table(tmp_path / "first.csv", "uv"), "target": "y", **SMALL}
    old = train_run("mlp", tmp_path / "old", **first).folder
    second = first | {"table": write_table(tmp_path / "second.csv", classes), "from_run": str(old)}
    configuration = configure(mlp.Recipe, second)
    summary = configuration.recipe.summarize(configuration.recipe.data(None))
    model, fresh = (build(configuration, summary) for _ in range(2))
    (remark,) = start_from(configuration, model, summary)
    saved = load_file(old / "model.safetensors")
    assert torch.equal(model.state_dict()["layers.0.weight"], saved["layers.0.weight"])
    head = model.state_dict()["layers.1.weight"]
    wanted = saved["layers.1.weight"] if kept else fresh.state_dict()["layers.1.weight"]
    assert torch.equal(head, wanted)
    assert ("new head: layers.1.weight, layers.1.bias" in remark) != kept


def test_a_file_of_weights_gives_everything_but_the_head(source: Path, tmp_path: Path) -> None:
    file = tmp_path / "weights.safetensors"
    file.write_bytes((source / "model.safetensors").read_bytes())
    configuration = configure(digits_mlp.Recipe, SMALL | {"from_run": str(file)})
    summary = configuration.recipe.summarize(configuration.recipe.data(None))
    model = build(configuration, summary)
    (remark,) = start_from(configuration, model, summary)
    assert remark.startswith("2 of 4 tensors taken from weights.safetensors; new head: layers.1")
    assert torch.equal(model.state_dict()["layers.0.bias"], load_file(file)["layers.0.bias"])


@pytest.mark.parametrize(
    ("recipe", "summary", "head"),
    [
        (mnist_vit.Recipe(), DataSummary((1, 28, 28), ("a", "b")), {"head.weight", "head.bias"}),
        (
            imdb_bert.Recipe(hidden_size=8, num_heads=2, num_layers=1),
            DataSummary(classes=("a", "b"), vocab_sizes=(20,)),
            {"output.weight", "output.bias"},
        ),
        (imdb_lstm.Recipe(), DataSummary((9,), ("a", "b")), {"output.weight", "output.bias"}),
        (
            cora_gat.Recipe(),
            DataSummary((5,), ("a", "b")),
            {f"layers.1.{n}" for n in ("V.weight", "u_target", "u_source", "bias")},
        ),
        (digits_mlp.Recipe(), DataSummary((64,), ()), set()),
    ],
    ids=("vit", "bert", "lstm", "gat", "regression"),
)
def test_the_head_is_all_that_depends_on_the_number_of_classes(
    recipe: BaseRecipe, summary: DataSummary, head: set[str]
) -> None:
    assert set(head_tensors(Configuration(recipe), summary)) == head


def test_a_bert_gives_its_last_block_to_another() -> None:
    """The head is the new output, not the matrix that was registered last."""
    torch.manual_seed(0)
    first, second = (BertClassifier(BERT(20, 8, 8, 2, 2, 0.0), k) for k in (2, 3))
    report = transfer(second, first.state_dict(), "first", ("output.weight", "output.bias"))
    assert set(report.taken) == set(first.state_dict()) - {"output.weight", "output.bias"}
    last = "blocks.1.feed_forward.outer.weight"
    assert torch.equal(second.bert.state_dict()[last], first.bert.state_dict()[last])


def test_initial_weights_by_the_data_do_not_replace_what_was_taken(
    source: Path, train_run: TrainRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fill(self: BaseRecipe, model: torch.nn.Module, data: object) -> None:
        for parameter in model.parameters():
            torch.nn.init.constant_(parameter, 7.0)

    monkeypatch.setattr(digits_mlp.Recipe, "initialize", fill)
    start = {"from_run": str(source), "freeze": "layers.0.*"}
    run = train_run("digits-mlp", tmp_path / "run", **SMALL, **start)
    ours, theirs = (load_file(f / "model.safetensors") for f in (run.folder, source))
    assert torch.equal(ours["layers.0.weight"], theirs["layers.0.weight"])
    assert not torch.equal(ours["layers.1.weight"], theirs["layers.1.weight"])
    assert run.remarks[-1] == "frozen: 2 tensors matching layers.0.*"


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("layer.0.*", r"`freeze` layer.0.\* matches none of: layers.0.weight"),
        ("*", "matches every parameter; nothing could be learned"),
    ],
)
def test_a_pattern_that_freezes_nothing_or_everything_is_refused(
    pattern: str, words: str, train_run: TrainRun, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=words):
        train_run("digits-mlp", tmp_path / "run", freeze=pattern, **SMALL)


def test_frozen_norms_keep_their_statistics(
    train_run: TrainRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    x, y = torch.rand(40, 3, 32, 32, generator=torch.Generator().manual_seed(0)), torch.arange(40)
    first = Split(x, y % 10)
    monkeypatch.setattr(cifar10, "load", lambda *_: Splits(first, first, first, cifar10.CLASSES))
    small = {"depth": 8, "epochs": 1, "batch_size": 20}
    source = train_run("cifar10-resnet20", tmp_path / "source", **small).folder
    second = Split(0.3 * x, y % 10)  # other means, which statistics would follow
    monkeypatch.setattr(cifar10, "load", lambda *_: Splits(second, second, second, cifar10.CLASSES))
    start = {"from_run": str(source), "freeze": "inner.*bn*"}
    run = train_run("cifar10-resnet20", tmp_path / "run", **small, **start)
    ours, theirs = (load_file(f / "model.safetensors") for f in (run.folder, source))
    norms = [name for name in theirs if "bn" in name]
    assert any("running_mean" in name for name in norms)
    assert all(torch.equal(ours[name], theirs[name]) for name in norms)
    assert not torch.equal(ours["inner.conv1.weight"], theirs["inner.conv1.weight"])


def test_a_run_that_is_not_there_is_refused_before_training(
    few_reviews: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(*_: object) -> None:
        raise AssertionError("trained")

    monkeypatch.setattr(BaseRecipe, "fit", fail)
    out = tmp_path / "run"
    command = ["train", "imdb-lstm", "--from", "/no/such/run", "--freeze", "x"]
    assert main([*command, "--data", str(few_reviews), "--out", str(out), "--quiet"]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "--from /no/such/run is neither a finished run nor a .safetensors file" in said
    assert not out.exists()
