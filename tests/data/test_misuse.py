"""Arguments of data sets and readers that make no sense are refused in one sentence.

In a process of its own: here the types of all calls are checked by another library first.
"""

import subprocess
import sys

ATTEMPTS = """
import sys
import numpy as np
import torch
from chainrule import data
from chainrule.errors import InputError
from chainrule.graphs import Graph, from_scipy

path = sys.argv[1]
x, y = np.random.default_rng(0).random((40, 3)), np.arange(40) % 2
edge = torch.tensor([[0], [1]])
graph = {"edges": path, "nodes": path, "target": "y"}
attempts = [
    (data.arrays, {"x": [[1], [2, 3]], "y": [0, 1]}),
    (data.arrays, {"x": np.array([[object()]] * 20), "y": y[:20]}),
    (data.table, {"source": {"a": [None, 1], "y": [1, 2]}, "target": "y"}),
]
for value in (None, -1, 1.5, float("nan"), "x", 10**30, [], object()):
    table = {"source": path, "target": "y"}
    attempts += [(data.table, table | {name: value}) for name in ("seed", "target", "source")]
    attempts += [(data.arrays, {"x": x, "y": y} | {name: value}) for name in ("x", "y", "seed")]
    attempts += [(data.graph_table, graph | {name: value}) for name in graph]
    attempts += [(data.images, {"folder": path} | {name: value}) for name in ("folder", "size")]
    attempts += [(data.digits, {"seed": value}), (data.blobs, {"seed": value})]
    attempts += [(data.text_file, {"path": value}), (data.memory_mapped, {"path": value})]
    attempts += [(data.text_file, {"path": path, "context_length": value})]
    attempts += [(Graph, {"x": value, "edge_index": edge})]
    attempts += [(from_scipy, {"adjacency": value, "x": edge})]
    attempts += [(Graph, {"x": torch.eye(2), "edge_index": value})]
    if value is not None:
        parts = ("edge_weight", "edge_attr", "batch")
        known = {"x": torch.eye(2), "edge_index": edge}
        attempts += [(Graph, known | {name: value}) for name in parts]
for name in ("test_fraction", "validation_fraction"):
    for value in (None, -1.0, 0.0, 2.0, float("nan"), "x"):
        attempts += [(data.table, {"source": path, "target": "y", name: value})]
        attempts += [(data.arrays, {"x": x, "y": y, name: value})]
for function, arguments in attempts:
    try:
        function(**arguments)
    except InputError as error:
        assert "\\n" not in str(error), error
    else:
        raise AssertionError((function, arguments))
print(len(attempts))
"""


def test_every_senseless_argument_is_refused_in_one_sentence(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("number,y\n" + "".join(f"{i * i},{'ab'[i % 2]}\n" for i in range(40)))
    command = [sys.executable, "-c", ATTEMPTS, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 150


def test_a_folder_may_be_a_string():
    from chainrule import data

    assert len(data.digits("nowhere").train.y) == 1200
