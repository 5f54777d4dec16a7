"""Planetoid's pickles: arrays come through, anything that could run code does not."""

import os
import pickle
import random
import shutil
from collections import defaultdict
from contextlib import suppress

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array, csr_matrix

from chainrule.data.datasets import cora
from chainrule.data.readers.graphs.planetoid import GraphSpec, assemble, labels
from chainrule.data.readers.pickled import ALLOWED, read_pickle
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


def pickled(thing: object) -> bytes:
    return python_2(pickle.dumps(thing, protocol=3))


@pytest.mark.parametrize("dtype", ["<i4", ">i8", "<f4", ">f8"])
def test_arrays_are_read(dtype):
    array = np.arange(6, dtype=dtype).reshape(2, 3)
    found = read_pickle(pickled(array))
    assert (found == array).all() and found.dtype == array.dtype


def test_matrices_are_read():
    matrix = csr_matrix(np.array([[0.0, 2.0], [3.0, 0.0]], np.float32))
    state = pickled(matrix).replace(b"cscipy.sparse._csr\n", b"cscipy.sparse.csr\n")
    found = read_pickle(state)
    assert (found.toarray() == matrix.toarray()).all()


def test_neighbor_lists_are_read():
    near = defaultdict(list, {0: [1, 2], 1: [0], 300: [70_000]})
    assert read_pickle(pickled(near)) == near


@pytest.mark.parametrize("protocol", [0, 2, 4])
@pytest.mark.parametrize("thing", [Evil(), Sly(), [1, Evil()], {"x": Sly()}, print, torch.Tensor])
def test_anything_else_is_refused_before_it_runs(thing, protocol):
    with pytest.raises(InputError, match="is not allowed"):
        read_pickle(pickle.dumps(thing, protocol=protocol))
    assert not CALLED


def test_what_is_allowed_is_a_short_list_that_calls_nothing():
    assert {
        "numpy ndarray",
        "numpy dtype",
        "numpy.core.multiarray _reconstruct",
        "scipy.sparse.csr csr_matrix",
        "collections defaultdict",
        "__builtin__ list",
    } == ALLOWED


def test_bytes_never_become_pointers():
    """ndarray((1,), dtype object, buffer): to unpickle this was a general protection fault."""
    minus_1 = b"J\xff\xff\xff\xff"
    state = b"(K\x03U\x01|NNN" + 2 * minus_1 + b"K\x3ftb"
    dtype = b"cnumpy\ndtype\n(U\x02O8K\x00K\x01tR" + state
    content = b"\x80\x02cnumpy\nndarray\n(K\x01\x85" + dtype + b"U\x08AAAAAAAAtR."
    with pytest.raises(InputError, match="expected an array, a matrix or neighbor lists"):
        read_pickle(content)


@pytest.mark.parametrize("thing", [np.array([None, 1]), np.array(["a"]), np.zeros(2, "i2,i4")])
def test_arrays_of_other_types_are_refused(thing):
    with pytest.raises(InputError, match=r"expected numbers of the type|expected bytes"):
        read_pickle(pickled(thing))


def nested(depth: int) -> bytes:
    """Lists that hold the previous list twice: 2**depth values in a few bytes."""
    return b"]q\x00" + b"".join(
        b"](h" + bytes([k]) + b"h" + bytes([k]) + b"eq" + bytes([k + 1]) for k in range(depth)
    )


@pytest.mark.parametrize(
    "content",
    [
        b"\x80\x02" + nested(70) + b"\x85.",
        b"\x80\x02}(" + nested(70) + b"K\x01u.",  # as a key, it would be hashed
        b"\x80\x02ccollections\ndefaultdict\nc__builtin__\nlist\n\x85R(K\x00" + nested(70) + b"u.",
        b"\x80\x02" + b"(" * 10_000,
        b"\x80\x02" + b"]" * 10_000 + b"a" * 9_999 + b".",
        b"\x80\x02" + b"N\x85" + b"\x85" * 10_000 + b".",
    ],
)
def test_nested_values_take_no_time(content):
    with pytest.raises((InputError, LookupError, ValueError)):
        read_pickle(content)


def test_shared_lists_are_counted():
    numbers = b"](" + b"K\x01" * 2000 + b"eq\x00"
    keys = b"".join(b"M" + k.to_bytes(2, "little") + b"h\x00" for k in range(1, 2000))
    start = b"\x80\x02ccollections\ndefaultdict\nc__builtin__\nlist\n\x85R(K\x00"
    with pytest.raises(InputError, match="at most 1,000,000 neighbors, got 4,000,000"):
        read_pickle(start + numbers + keys + b"u.")


@pytest.mark.parametrize("part", ["allx", "ally", "graph"])
def test_any_mutation_is_read_or_refused(big_data, part):
    whole = (big_data / f"planetoid/ind.cora.{part}").read_bytes()
    draw = random.Random(part)
    for _ in range(300):
        content = bytearray(whole[:300] + whole[-300:])
        for _ in range(draw.randint(1, 4)):
            content[draw.randrange(len(content))] = draw.randrange(256)
        with suppress(InputError, LookupError, ValueError):
            read_pickle(bytes(content))


@pytest.mark.parametrize("content", [b"", b"not a pickle", pickle.dumps([1, 2])[:-3]])
def test_a_broken_file_is_refused(content):
    with pytest.raises((InputError, ValueError)):
        read_pickle(content)


def test_test_nodes_take_their_places_and_left_out_ones_stay_empty():
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
    published = GraphSpec("tiny", ("a", "b"), nodes=1005, edges=2, features=2, checksums={})
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


@pytest.mark.parametrize("file", ["ind.cora.test.index", "ind.cora.allx", "ind.cora.graph"])
def test_a_damaged_cora_is_refused(big_data, tmp_path, file):
    shutil.copytree(big_data / "planetoid", tmp_path / "planetoid")
    path = tmp_path / "planetoid" / file
    path.chmod(0o644)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(InputError, match=rf"{file} is damaged \(its checksum"):
        cora.load(tmp_path)
