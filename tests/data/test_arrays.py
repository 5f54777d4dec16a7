"""Arrays from Python, in memory and on the disk."""

import numpy as np
import pandas as pd
import pytest
import torch

from chainrule.data import arrays, memory_mapped, table
from chainrule.data.readers.encoders import VectorEncoder
from chainrule.errors import InputError

X = np.arange(200, dtype=np.float64).reshape(100, 2)
Y = np.arange(100) % 2


@pytest.mark.parametrize("kind", [np.asarray, torch.tensor, pd.DataFrame, list])
def test_arrays_tensors_frames_and_lists_give_the_same_splits(kind):
    splits = arrays(kind(X), Y)
    assert splits.train.x.shape == (60, 2) and splits.test.x.shape == (20, 2)
    assert splits.train.x.dtype == torch.float32 and splits.train.y.dtype == torch.int64
    assert splits.classes == ("0", "1")
    assert torch.equal(splits.train.x[:, 0] / 2 % 2, splits.train.y.float())


def test_words_are_classes_and_fractions_are_a_regression():
    assert arrays(X, np.where(Y, "yes", "no")).classes == ("no", "yes")
    splits = arrays(X, Y / 3)
    assert splits.classes == () and splits.train.y.dtype == torch.float32


def test_the_task_overrules():
    assert arrays(X, Y, task="regression").classes == ()
    assert len(arrays(X, np.arange(100) % 25, task="classification").classes) == 25
    with pytest.raises(InputError, match="classification or regression, got 'ranking'"):
        arrays(X, Y, task="ranking")


def test_the_names_of_a_frame_are_kept_for_reading_files():
    assert arrays(pd.DataFrame(X, columns=["a", "b"]), Y).encoder == VectorEncoder(("a", "b"))
    assert arrays(X, Y).encoder == VectorEncoder(("x1", "x2"))
    assert arrays(X.reshape(100, 1, 2), Y).encoder is None


def test_lengths_that_differ_are_refused():
    with pytest.raises(InputError, match=r"got \(100, 2\) and \(99,\)"):
        arrays(X, Y[1:])


@pytest.mark.parametrize("value", [np.nan, np.inf, -1e31])
def test_values_that_are_not_finite_are_refused_with_their_place(value):
    x = X.copy()
    x[3, 1] = value
    with pytest.raises(InputError, match=r"x\[3, 1\]"):
        arrays(x, Y)
    y = Y.astype(float)
    y[7] = value
    with pytest.raises(InputError, match=r"y\[7\]"):
        arrays(X, y)


@pytest.mark.parametrize("kind", "bhilqBHILQ?")
@pytest.mark.parametrize("wrap", [np.asarray, pd.Series, list])
def test_labels_may_be_of_any_whole_type_or_boolean(kind, wrap):
    y = wrap(Y.astype(kind))
    names = ("False", "True") if kind == "?" else ("0", "1")
    for splits in (arrays(X, y), table({"x": X[:, 0] % 7, "y": y}, target="y")):
        assert splits.classes == names and splits.train.y.dtype == torch.int64
    for splits in (
        arrays(X, y, task="regression"),
        table({"x": X[:, 0] % 7, "y": y}, target="y", task="regression"),
    ):
        assert splits.train.y.dtype == torch.float32 and splits.train.y.unique().tolist() == [0, 1]


@pytest.mark.parametrize("kind", [torch.bool, torch.uint8, torch.int16, torch.int32])
def test_labels_may_be_tensors(kind):
    y = torch.from_numpy(Y).to(kind)
    assert torch.equal(arrays(X, y).train.y, arrays(X, Y).train.y)


@pytest.mark.parametrize("kind", ["boolean", "Int64", "UInt8", "category"])
def test_labels_may_be_of_the_types_of_pandas(kind):
    y = pd.Series(Y == 1 if kind == "boolean" else Y).astype(kind)
    assert torch.equal(arrays(X, y).train.y, arrays(X, Y).train.y)


@pytest.mark.parametrize("shape", [(0, 3), (0,), (5, 0)])
def test_an_empty_array_is_refused(shape):
    with pytest.raises(InputError, match=r"x is empty: its shape is \("):
        arrays(np.zeros(shape), np.zeros(shape[0]))


def test_rare_classes_are_named():
    splits = arrays(X, np.where(np.arange(100) < 2, 7, Y))
    assert splits.remarks == ("classes with fewer than 3 examples: '7' (2)",)


def test_words_in_x_are_refused():
    with pytest.raises(InputError, match="x must hold numbers"):
        arrays(X.astype(str), Y)


def test_a_mapped_array_is_the_file_and_changes_stay_in_memory(tmp_path):
    path = tmp_path / "x.npy"
    np.save(path, X.astype(np.float32))
    mapped = memory_mapped(path)
    assert torch.equal(mapped, torch.from_numpy(X).float())
    mapped[0] = -1
    assert np.array_equal(np.load(path), X)


def test_a_mapped_file_that_is_no_array_of_numbers_is_refused(tmp_path):
    path = tmp_path / "x.npy"
    with pytest.raises(InputError, match="there is no file"):
        memory_mapped(path)
    for content in (b"", b"text", b"cos\nsystem\n(S'true'\ntR."):
        path.write_bytes(content)
        with pytest.raises(InputError, match=r"expected a \.npy file"):
            memory_mapped(path)
    np.save(path, np.array([{"a": 1}]), allow_pickle=True)
    with pytest.raises(InputError, match=r"expected a \.npy file"):
        memory_mapped(path)
    np.savez(tmp_path / "x.npz", X)
    with pytest.raises(InputError, match=r"expected a \.npy file"):
        memory_mapped(tmp_path / "x.npz")
