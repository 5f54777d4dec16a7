"""A user's own graph: what is read from two tables, and what is refused."""

import pytest
import torch

from chainrule.data import encoder_from_json
from chainrule.data.readers.graphs.graph_table import graph_table
from chainrule.data.readers.graphs.node_encoder import NodeEncoder
from chainrule.errors import InputError

NODES = [f"p{i},{i / 10},{'red' if i % 3 else 'blue'},{'ab'[i % 2]}" for i in range(40)]
EDGES = [f"p{i},p{i + 1}" for i in range(39)]


@pytest.fixture
def write(tmp_path):
    def tables(nodes=NODES, edges=EDGES, header="id,size,color,kind", ends="from,to"):
        (tmp_path / "nodes.csv").write_text("\n".join([header, *nodes]) + "\n")
        (tmp_path / "edges.csv").write_text("\n".join([ends, *edges]) + "\n")
        return tmp_path / "edges.csv", tmp_path / "nodes.csv"

    return tables


def test_two_tables_become_a_graph_with_splits_of_the_labeled_nodes(write):
    nodes = [*NODES, "p40,1.0,red,", "p41,2.0,blue,?"]
    data = graph_table(*write(nodes, [*EDGES, "p40,p41"]), "kind")
    assert data.graph.num_nodes == 42 and data.graph.num_edges == 80
    assert data.graph.x.shape[1] == 3  # size, and two colors
    assert data.classes == ("a", "b")
    assert data.labels[:4].tolist() == [0, 1, 0, 1] and data.labels[40:].tolist() == [-1, -1]
    assert [len(s.x) for s in (data.train, data.validation, data.test)] == [24, 8, 8]
    assert data.remarks == ("2 of 42 nodes have no 'kind'",)
    train = data.graph.x[data.train.x, 0]
    assert abs(float(train.mean())) < 1e-6  # standardized by the training nodes alone


def test_zeros_and_ones_stay_as_they_are(write):
    nodes = [f"{row},{int(i % 9 == 0)}" for i, row in enumerate(NODES)]
    data = graph_table(*write(nodes, header="id,size,color,kind,rare"), "kind")
    assert data.graph.x[:, -1].tolist() == [float(i % 9 == 0) for i in range(40)]
    again = encoder_from_json(data.encoder.to_json())
    rows = {"size": ["1", "0"], "color": ["red", "blue"], "rare": ["1", "0"]}
    assert again.table.encode(rows)[:, -1].tolist() == [1, 0]


def test_the_seed_moves_the_validation_nodes_only(write):
    paths = write()
    one, other = graph_table(*paths, "kind", seed=1), graph_table(*paths, "kind", seed=2)
    assert torch.equal(one.test.x, other.test.x)
    assert not torch.equal(one.validation.x, other.validation.x)


def test_both_directions_loops_and_further_columns_are_told(write):
    edges = [*(f"{edge},1" for edge in EDGES), "p1,p0,2", "p5,p5,3"]
    data = graph_table(*write(edges=edges, ends="from,to,weight"), "kind")
    assert data.graph.num_edges == 78
    assert data.remarks == (
        "column 'weight' of the edges was ignored",
        "1 edges from a node to itself were dropped",
        "1 edges are listed in both directions and count once",
    )


def test_without_columns_every_node_is_a_feature(write):
    nodes = [f"p{i},{'ab'[i % 2]}" for i in range(40)]
    data = graph_table(*write(nodes, header="name,kind"), "kind")
    assert torch.equal(data.graph.x, torch.eye(40))
    assert "every node has a one-hot feature" in data.remarks[0]


def test_an_id_column_may_stand_anywhere(write):
    nodes = [f"{i % 5},p{i},{'ab'[i % 2]}" for i in range(40)]
    data = graph_table(*write(nodes, header="size,ID,kind"), "kind")
    assert data.graph.num_edges == 78 and data.graph.x.shape[1] == 1


@pytest.mark.parametrize(
    ("tables", "said"),
    [
        ({"edges": [*EDGES, "p1,q9"]}, "expected ids of nodes in .*, got 'q9'"),
        ({"edges": [*EDGES, "a,b", "c,d"]}, "'a', 'c', 'b' and 1 more"),
        ({"edges": [*EDGES, "p3,p4"]}, "the edge p3 to p4 is in rows 4 and 40"),
        ({"edges": ["p1"], "ends": "from"}, "expected two columns"),
        ({"edges": []}, "no rows"),
        ({"nodes": [*NODES, NODES[7]]}, "'p7' in rows 8 and 41"),
        (
            {"nodes": [*NODES, ",1,red,a"]},
            "expected an id in every row, but it is missing in row 41",
        ),
        ({"nodes": [f"{n[:-1]}" for n in NODES]}, "at least 10 nodes with a label .* got 0"),
        ({"nodes": [f"{n[:-1]}a" for n in NODES]}, "has the same value in all rows"),
        ({"nodes": [f"{n[:-1]}{i + 0.5}" for i, n in enumerate(NODES)]}, "expected classes in the"),
        ({"header": "id,size,color,sort"}, "no column named 'kind'"),
    ],
)
def test_what_cannot_be_a_graph_is_refused(write, tables, said):
    with pytest.raises(InputError, match=said):
        graph_table(*write(**tables), "kind")


def test_the_id_cannot_be_the_target(write):
    with pytest.raises(InputError, match="must be two columns"):
        graph_table(*write(), "id")


def test_the_reader_numbers_nodes_and_refuses_strangers_and_changed_files(write, tmp_path):
    edges, nodes = write()
    reader = graph_table(edges, nodes, "kind").encoder
    assert isinstance(reader, NodeEncoder)
    assert encoder_from_json(reader.to_json()) == reader
    asked = tmp_path / "asked.csv"
    asked.write_text("id\np7\np0\n")
    assert reader.encode_file(asked).tolist() == [7, 0]
    asked.write_text("id\np7\nq1\n")
    with pytest.raises(InputError, match=r"expected nodes of .*, got 'q1'"):
        reader.encode_file(asked)
    asked.write_text("name\np7\n")
    with pytest.raises(InputError, match="missing column 'id'"):
        reader.encode_file(asked)
    write([*NODES, "p40,1,red,a"])
    with pytest.raises(InputError, match="train again on the new graph"):
        reader.encode_file(asked)
