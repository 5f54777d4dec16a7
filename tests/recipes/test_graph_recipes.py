"""Recipes on graphs: what they reach, what they may see, and a user's own graph from end to end."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from chainrule.cli.main import main
from chainrule.data.datasets import block_model, random_graphs
from chainrule.data.graph_splits import node_features
from chainrule.data.splits import Split
from chainrule.models.feedforward.mlp import MLP
from chainrule.models.geometric.gcn import GCN
from chainrule.models.geometric.weisfeiler_leman import WeisfeilerLeman
from chainrule.nn.on_graph import OnGraph
from chainrule.recipes.families.node_pictures import graph_picture
from chainrule.recipes.geometric import karate_gcn, random_graphs_gnn
from chainrule.runs.configuration import Configuration
from chainrule.runs.predictions import Predictions
from chainrule.runs.run import Run, build
from chainrule.training import Settings, evaluate, fit


def trained(recipe, data):
    model = build(Configuration(recipe), recipe.summarize(data))
    list(recipe.fit(model, data, None, "cpu"))
    return model


def test_the_club_falls_apart_as_it_did():
    """Two labels, 34 members; at most two are sent to the wrong club."""
    recipe = karate_gcn.Recipe.configured(epochs=100)
    data = recipe.data(None)
    found = recipe.evaluate(Predictions(recipe, trained(recipe, data), data))
    assert sum(metrics["mistakes"] for metrics in found.values()) <= 2
    assert data.graph.num_edges == 2 * 78 and data.train.x.tolist() == [0, 33]


def test_neighbors_help_where_features_are_noisy():
    data = block_model.load()
    torch.manual_seed(0)
    settings = Settings(epochs=60, batch_size=4096, learning_rate=0.02)
    with_graph = OnGraph(GCN(4, [16], 4, dropout=0.0), data.graph)
    fit(with_graph, data.train, settings=settings)
    alone, plain = MLP(4, [16], 4), node_features(data)
    fit(alone, plain.train, settings=settings)
    assert evaluate(with_graph, data.test)["accuracy"] > 0.85
    assert evaluate(alone, plain.test)["accuracy"] < 0.7


def test_labels_of_the_test_nodes_change_nothing_that_is_learned():
    recipe = karate_gcn.Recipe.configured(epochs=3)
    data = recipe.data(None)
    weights = []
    for y in (data.test.y, 1 - data.test.y):
        changed = replace(data, test=Split(data.test.x, y))
        model = trained(recipe, changed)
        weights.append(torch.cat([p.flatten() for p in model.parameters()]))
    assert torch.equal(*weights)


def test_laws_of_random_graphs_are_told_by_the_kernel_and_by_a_network():
    data = random_graphs.load()
    kernel = WeisfeilerLeman(data.graph, 4, rounds=2)
    kernel.fit(*data.train)
    assert evaluate(kernel, data.test)["accuracy"] > 0.85
    recipe = random_graphs_gnn.Recipe.configured(epochs=3, batch_size=16, hidden_size=16)
    predictions = Predictions(recipe, trained(recipe, data), data)
    assert recipe.evaluate(predictions)["test"]["accuracy"] > 0.6
    edges = torch.bincount(data.graph.graph_of_node[data.graph.edge_index[0]])
    assert torch.equal(edges, 4 * torch.bincount(data.graph.graph_of_node))  # no law by the size


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    """Two groups of 30 in which everybody knows the next two; the last four have no label."""
    folder = tmp_path_factory.mktemp("own")
    nodes = [f"n{i},{i % 7},{'' if i >= 56 else 'left' if i < 30 else 'right'}" for i in range(60)]
    pairs = [(i, j) for i in range(60) for j in (i + 1, i + 2) if j < 60 and (i < 30) == (j < 30)]
    (folder / "nodes.csv").write_text("\n".join(["id,size,side", *nodes]) + "\n")
    (folder / "edges.csv").write_text("\n".join(["a,b", *(f"n{i},n{j}" for i, j in pairs)]) + "\n")
    return folder


@pytest.fixture(scope="module")
def own_run(place: Path) -> Path:
    nodes, edges = place / "nodes.csv", place / "edges.csv"
    command = ["train", "gcn", "--edges", str(edges), "--nodes", str(nodes), "--target", "side"]
    assert main([*command, "--quiet", "--epochs", "30", "--out", str(place / "run")]) == 0
    return place / "run"


def test_a_users_own_graph_is_learned_and_its_unlabeled_nodes_are_predicted(place, own_run, capsys):
    (place / "asked.csv").write_text("id\nn56\nn3\n")
    assert main(["predict", str(own_run), str(place / "asked.csv"), "--json"]) == 0
    answers = json.loads(capsys.readouterr().out)["predictions"]
    assert [set(answer["probabilities"]) for answer in answers] == [{"left", "right"}] * 2
    assert main(["predict", str(own_run), str(place / "nodes.csv"), "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["predictions"]) == 60
    assert main(["evaluate", str(own_run), "--quiet"]) == 0


def test_nodes_without_a_label_are_drawn_as_such_and_not_counted(own_run):
    data = Run.load(own_run).data()
    assert (data.labels < 0).nonzero()[:, 0].tolist() == [56, 57, 58, 59]
    figure = graph_picture(1 - data.labels.clamp_min(0), data)
    assert figure.axes[1].get_title("left") == "prediction: 56 of 56 wrong"
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert legend[-1] == "no label"


def test_a_graph_that_has_changed_is_not_predicted_from(place, own_run, capsys):
    nodes = place / "nodes.csv"
    before = nodes.read_text()
    try:
        nodes.write_text(before + "n60,1,left\n")
        assert main(["predict", str(own_run), str(nodes)]) == 2
        assert "train again on the new graph" in " ".join(capsys.readouterr().err.split())
        rows = [line.split(",") for line in before.splitlines()[1:]]
        wider = [f"{name},{size},{k % 5},{side}" for k, (name, size, side) in enumerate(rows)]
        nodes.write_text("\n".join(["id,size,more,side", *wider]) + "\n")
        with pytest.raises(ValueError, match="train again"):
            _ = Run.load(own_run).model
    finally:
        nodes.write_text(before)


def test_a_run_on_a_published_graph_has_nothing_else_to_predict(tmp_path, capsys):
    out = str(tmp_path / "run")
    assert main(["train", "karate-gcn", "--epochs", "1", "--quiet", "--out", out]) == 0
    assert main(["predict", out, str(tmp_path / "nodes.csv")]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert (
        "karate-gcn does not support prediction for new inputs: its examples are the nodes" in said
    )
