"""The idx reader: what it reads, and the damage it finds."""

import gzip
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chainrule.data.readers.images.idx import load_bytes, load_labels, read_idx
from chainrule.errors import InputError

DAMAGED = r"images.gz is damaged .*; delete it to download it again"


def idx(array: np.ndarray) -> bytes:
    sizes = struct.pack(f">{array.ndim}I", *array.shape)
    return bytes([0, 0, 8, array.ndim]) + sizes + array.tobytes()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "images.gz"


@given(st.lists(st.integers(0, 5), min_size=1, max_size=3), st.integers(0, 99))
def test_reading_undoes_writing(tmp_path_factory, shape, seed):
    array = np.random.default_rng(seed).integers(0, 256, shape).astype(np.uint8)
    path = tmp_path_factory.mktemp("idx") / "images.gz"
    path.write_bytes(gzip.compress(idx(array)))
    assert np.array_equal(read_idx(path), array)


def broken_files() -> dict[str, bytes]:
    whole = idx(np.arange(12, dtype=np.uint8).reshape(3, 4))
    packed = gzip.compress(whole)
    flipped = bytearray(packed)
    flipped[-6] ^= 1
    return {
        "empty": b"",
        "not gzip": whole,
        "cut short": packed[:-9],
        "wrong CRC": bytes(flipped),
        "broken stream": packed[:12] + b"\xff" * 8 + packed[20:],
        "no header": gzip.compress(b"\0\0"),
        "half a header": gzip.compress(whole[:9]),
        "wrong magic": gzip.compress(b"\1" + whole[1:]),
        "values missing": gzip.compress(whole[:-1]),
        "values too many": gzip.compress(whole + b"\0"),
    }


@pytest.mark.parametrize("kind", broken_files())
def test_damage_is_named_with_the_file_and_the_cure(path, kind):
    path.write_bytes(broken_files()[kind])
    with pytest.raises(InputError, match=DAMAGED):
        read_idx(path)


def test_a_whole_file_of_the_wrong_shape_is_damaged(path):
    path.write_bytes(gzip.compress(idx(np.zeros((3, 4), np.uint8))))
    assert load_bytes(path, (3, 4)).shape == (3, 4)
    with pytest.raises(InputError, match=DAMAGED):
        load_bytes(path, (4, 3))


def test_a_label_out_of_range_is_damage(path):
    path.write_bytes(gzip.compress(idx(np.array([0, 9, 10], np.uint8))))
    assert load_labels(path, (3,), 11).tolist() == [0, 9, 10]
    with pytest.raises(InputError, match="expected labels below 10, got 10"):
        load_labels(path, (3,), 10)
