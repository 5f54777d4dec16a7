"""A user's own graphs and clouds from the files to the predictions."""

import csv
from io import StringIO

import numpy as np
import pytest
import torch

import chainrule as cr
from chainrule.cli.main import main
from chainrule.errors import InputError
from chainrule.recipes.geometric.gcn import Recipe
from chainrule.recipes.geometric.links import Recipe as Links

QUICK = {"epochs": 3, "threads": 1}


@pytest.fixture
def tables(tmp_path):
    draw = np.random.default_rng(0)
    nodes = [
        f"p{i},{'' if i % 10 == 9 else 'ab'[i % 2]},{i % 2 + draw.normal():.2f}" for i in range(60)
    ]
    pairs = {(i, (i + 2 * k) % 60) for i in range(60) for k in (1, 3)}
    edges = [f"p{a},p{b},{1 + (a + b) % 3}" for a, b in sorted(pairs)]
    (tmp_path / "nodes.csv").write_text("\n".join(["name,team,size", *nodes]) + "\n")
    (tmp_path / "edges.csv").write_text("\n".join(["from,to,weight", *edges]) + "\n")
    (tmp_path / "new.csv").write_text("name,size,note\nq1,1.5,first\np2,0.1,old\n")
    (tmp_path / "ties.csv").write_text("from,to,weight\nq1,p1,2\nq1,p3,1\n")
    return {"edges": str(tmp_path / "edges.csv"), "nodes": str(tmp_path / "nodes.csv")}


@pytest.mark.parametrize("model", ["gcn", "gat", "cheb", "mpnn"])
def test_every_network_of_nodes_answers_for_known_and_for_new_nodes(tables, tmp_path, model):
    run = cr.train(
        "gcn", **tables, target="team", weight="weight", model_name=model, out=tmp_path / "run",
        pictures=model == "gat", **QUICK,
    )  # fmt: skip
    assert {"precision", "calibration error"} <= run.result["metrics"]["test"].keys()
    out = tmp_path / "answers.csv"
    asked = [str(tmp_path / "run"), str(tmp_path / "new.csv"), str(tmp_path / "ties.csv")]
    assert main(["predict", *asked, "--out", str(out)]) == 0
    rows = list(csv.DictReader(StringIO(out.read_text())))
    assert [row["name"] for row in rows] == ["q1", "p2"] and rows[0]["note"] == "first"
    assert all(row["prediction"] in ("a", "b") for row in rows)
    assert main(["predict", *asked[:2]]) == 2, "a new node without edges"


def test_directed_edges_and_features_of_edges_are_for_some_networks(tables):
    with pytest.raises(InputError, match="cheb are those of undirected graphs"):
        Recipe(**tables, target="team", model_name="cheb", directed=True).data(None)
    with pytest.raises(InputError, match="gcn reads no features of edges"):
        Recipe(**tables, target="team", edge_features=("weight",)).data(None)


def test_training_draws_other_pairs_without_an_edge_only():
    x = torch.tensor([[3, 7, 0], [5, 2, 1000], [5, 2, 1000]])
    drawn = Links(edges="", nodes="").augmentation()(x)
    assert drawn[0].tolist() == [3, 7, 0] and drawn[:, 0].tolist() == [3, 5, 5]
    assert drawn[1, 1] != drawn[2, 1] and (drawn[1:, 1] < 1000).all()


@pytest.mark.parametrize("model", ["gcn", "gat"])
def test_links_are_scored_beside_common_neighbors(tables, tmp_path, model):
    run = cr.train(
        "links", **tables, ignore=("team",), model_name=model, out=tmp_path / "run",
        pictures=False, **QUICK,
    )  # fmt: skip
    assert 0 <= run.result["compared"]["common neighbors"]["test"]["auc"] <= 1
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("a,b,c\np0,p2,x\np0,p3,y\n")
    assert [row["input"] for row in run.predict(pairs)] == ["pairs.csv, row 1", "pairs.csv, row 2"]


def test_many_graphs_are_classified_from_three_tables(tmp_path):
    graphs = [f"g{k},{'ab'[k % 2]}" for k in range(20)]
    nodes = [f"g{k},{m}" for k in range(20) for m in range(5)]
    star = [f"g{k},0,{m}" for k in range(0, 20, 2) for m in range(1, 5)]
    line = [f"g{k},{m},{m + 1}" for k in range(1, 20, 2) for m in range(4)]
    for name, head, rows in (
        ("graphs", "graph,shape", graphs), ("nodes", "graph,id", nodes),
        ("edges", "graph,a,b", star + line),
    ):  # fmt: skip
        (tmp_path / f"{name}.csv").write_text("\n".join([head, *rows]) + "\n")
    paths = {name: str(tmp_path / f"{name}.csv") for name in ("graphs", "nodes", "edges")}
    run = cr.train(
        "graphs", **paths, target="shape", out=tmp_path / "run", pictures=False,
        epochs=20, threads=1,
    )  # fmt: skip
    assert run.result["metrics"]["test"]["accuracy"] == 1
    found = run.predict([paths["nodes"], paths["edges"]])
    assert [row["prediction"] for row in found] == ["a", "b"] * 10
    with pytest.raises(InputError, match="expected two tables, one of nodes"):
        run.predict(paths["nodes"])


@pytest.mark.parametrize("model", ["pointnet", "deepsets"])
def test_a_folder_of_clouds_trains_and_predicts(tmp_path, model, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    draw = np.random.default_rng(0)
    for name, shape in (("disk", (1, 1, 0.1)), ("ball", (1, 1, 1))):
        (tmp_path / "clouds" / name).mkdir(parents=True)
        for k in range(8):
            np.save(tmp_path / "clouds" / name / f"{k}.npy", draw.normal(size=(20, 3)) * shape)
    run = cr.train(
        "pointnet", clouds=str(tmp_path / "clouds"), num_points=16, visible=8, features=16,
        model_name=model, out=tmp_path / "run", **QUICK,
    )  # fmt: skip
    names = {path.name for path in (tmp_path / "run").iterdir()}
    assert {"clouds.png", "report.txt", "calibration.png"} <= names
    assert ("critical.png" in names) == (model == "pointnet")
    assert len(run.predict(tmp_path / "clouds")) == 16
