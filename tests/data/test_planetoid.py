"""Planetoid's pickles: arrays come through, anything that could run code does not."""

import os
import pickle
import shutil
from collections import defaultdict

import numpy as np
import pytest
import torch

from chainrule.data.datasets import cora
from chainrule.data.readers.planetoid import ALLOWED, GraphSpec, assemble, labels, restricted_load
from chainrule.errors import InputError

CALLED = []


class Evil:
    def __reduce__(self):
        return os.getcwd, ()


class Sly:
    def __reduce__(self):
        return CALLED.append, (1,)


def python_2(content: bytes) -> bytes:
    """The same pickle with the names of Python 2 and of NumPy 1."""
    content = content.replace(b"cbuiltins\nlist", b"c__builtin__\nlist")
    return content.replace(b"numpy._core.multiarray", b"numpy.core.multiarray")


def test_arrays_and_neighbor_lists_are_read(tmp_path):
    path = tmp_path / "good"
    array = np.arange(6, dtype=np.int32).reshape(2, 3)
    path.write_bytes(python_2(pickle.dumps(array, protocol=3)))
    assert (restricted_load(path) == array).all()
    near = defaultdict(list, {0: [1, 2], 1: [0]})
    path.write_bytes(python_2(pickle.dumps(near, protocol=3)))
    assert restricted_load(path) == near


@pytest.mark.parametrize("protocol", [0, 2, 4])
@pytest.mark.parametrize("thing", [Evil(), Sly(), [1, Evil()], {"x": Sly()}, print, torch.Tensor])
def test_anything_else_is_refused_before_it_runs(tmp_path, thing, protocol):
    path = tmp_path / "bad"
    path.write_bytes(pickle.dumps(thing, protocol=protocol))
    with pytest.raises(InputError, match=r"damaged \(.* is not allowed"):
        restricted_load(path)
    assert not CALLED


def test_what_is_allowed_is_a_short_list_that_calls_nothing():
    names = {f"{module}.{name}" for module, name in ALLOWED}
    assert names == {
        "numpy.ndarray",
        "numpy.dtype",
        "numpy.core.multiarray._reconstruct",
        "scipy.sparse.csr.csr_matrix",
        "collections.defaultdict",
        "__builtin__.list",
    }


@pytest.mark.parametrize("content", [b"", b"not a pickle", pickle.dumps([1, 2])[:-3]])
def test_a_broken_file_is_refused(tmp_path, content):
    path = tmp_path / "broken"
    path.write_bytes(content)
    with pytest.raises(InputError, match="delete it to download it again"):
        restricted_load(path)


def test_test_nodes_take_their_places_and_left_out_ones_stay_empty():
    from scipy.sparse import csr_array

    one_hot = np.eye(2, dtype=int)
    test = np.array([1003, 1001, *range(4, 1001), 1002 + 2])  # 1,000 nodes, 1002 is left out
    tx = csr_array((np.ones(1000), (np.arange(1000), np.arange(1000) % 2)), shape=(1000, 2))
    parts = {
        "x": csr_array(np.eye(2)),
        "allx": csr_array(np.ones((4, 2))),
        "ally": one_hot[[0, 1, 0, 1]],
        "tx": tx,
        "ty": one_hot[np.arange(1000) % 2],
        "graph": {0: [1, 1, 0], 1: [0], 2: [3]},
    }
    published = GraphSpec("tiny", ("a", "b"), nodes=1005, edges=2, features=2)
    found = assemble(parts, test, published)
    assert found.graph.x[0].tolist() == [0.5, 0.5]  # shares of the row
    assert found.graph.x[1003].tolist() == [1, 0] and found.graph.x[1001].tolist() == [0, 1]
    assert found.graph.x[1002].tolist() == [0, 0] and found.labels[1002] == -1
    assert found.graph.edge_index.T.tolist() == [[1, 0], [0, 1], [3, 2], [2, 3]]
    assert labels(np.array([[0, 1], [0, 0]])).tolist() == [1, -1]
    with pytest.raises(InputError, match="directed edges"):
        assemble(parts | {"graph": {0: [1]}}, test, published)


def test_cora_is_what_was_published(big_data):
    data = cora.load(big_data)
    assert data.labels.bincount().tolist() == [351, 217, 418, 818, 426, 298, 180]
    assert data.train.y.bincount().tolist() == [20] * 7
    assert data.graph.num_edges == 2 * 5278
    every = torch.cat([data.train.x, data.validation.x, data.test.x])
    assert len(every.unique()) == 1640
    torch.testing.assert_close(data.graph.x.sum(1), torch.ones(2708))


def test_a_damaged_cora_is_refused(big_data, tmp_path):
    shutil.copytree(big_data / "planetoid", tmp_path / "planetoid")
    for path in (tmp_path / "planetoid").iterdir():
        path.chmod(0o644)
    (tmp_path / "planetoid" / "ind.cora.test.index").write_text("1708\n1709\n")
    with pytest.raises(InputError, match="damaged"):
        cora.load(tmp_path)
