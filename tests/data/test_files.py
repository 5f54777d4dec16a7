"""Files: bounded, and an error says what the system said. Unreadable is never called damaged."""

import gzip
import io
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pytest

from chainrule.data import files, memory_mapped, table, text_file
from chainrule.data.datasets import cifar10, ewt, imdb, modelnet10, squad, usps
from chainrule.data.readers.encoders import ImageEncoder
from chainrule.data.readers.graphs.graph_table import digest_of
from chainrule.data.readers.images.idx import read_idx
from chainrule.data.readers.islp import read_checked
from chainrule.data.readers.npy import npy_array, npz_arrays
from chainrule.data.readers.points.point_encoders import PointEncoder
from chainrule.data.text.wordpiece import read_wordpiece
from chainrule.errors import InputError

READERS = {
    "mesh.off": PointEncoder(8).encode_file,
    "points.txt": PointEncoder(8).encode_file,
    "array.npy": memory_mapped,
    "arrays.npz": usps.read_array,
    "digits.gz": usps.read_text,
    "voxels.npz": modelnet10.read_voxels,
    "meshes.zip": modelnet10.read_archive,
    "images.gz": read_idx,
    "squad.json": squad.read,
    "squad.json.zip": squad.read,
    "ewt.conllu": ewt.read,
    "ewt.conllu.gz": ewt.read,
    "train.jsonl.gz": imdb.from_lines,
    "imdb.tar.gz": lambda path: imdb.reviews(path, "train"),
    "cifar.tar.gz": cifar10.read_archive,
    "table.csv": lambda path: table(path, "y"),
    "islp.csv": lambda path: read_checked(path, 1, ("a",)),
    "graph.csv": digest_of,
    "text.txt": text_file,
    "pieces.json": read_wordpiece,
    "picture.png": ImageEncoder(8).encode_file,
}


@pytest.mark.parametrize("name", READERS)
def test_what_the_system_does_not_let_us_read_is_not_called_damaged(tmp_path, name, monkeypatch):
    path = tmp_path / name
    with pytest.raises(InputError, match=f"there is no file .*{name}"):
        READERS[name](path)
    path.mkdir()
    said = r"(is a folder; expected a file|holds no \.txt files)"
    with pytest.raises(InputError, match=f"{name} {said}"):
        READERS[name](path)
    path.rmdir()
    path.touch()

    def denied(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", denied)
    with pytest.raises(InputError, match=f"{name} cannot be read: Permission denied"):
        READERS[name](path)


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"\x00" * 100, b"PK\x03\x04", b"\x1f\x8b"])
def test_bytes_without_sense_are_refused_with_the_name_of_the_file(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    if READERS[name] in (digest_of, text_file) and content == b"\x00" * 100:
        return  # a checksum takes any bytes, and zeros are characters
    if READERS[name] is digest_of:
        return
    with pytest.raises(InputError, match=name):
        READERS[name](tmp_path / name)


def test_a_broken_disk_is_not_called_damaged(tmp_path):
    class Broken(io.BytesIO):
        def read(self, *_):
            raise OSError(5, "Input/output error")

    with (
        pytest.raises(InputError, match=r"file.gz cannot be read: Input/output error"),
        files.reading(tmp_path / "file.gz"),
        gzip.GzipFile(fileobj=Broken()) as stream,
    ):
        stream.read()


def test_a_path_that_is_none_is_refused():
    with pytest.raises(InputError, match="cannot be read: embedded null byte"):
        files.read_bytes("a\0b")


def test_a_file_is_read_up_to_its_limit(tmp_path):
    path = tmp_path / "file.txt"
    path.write_bytes(b"12345")
    assert files.read_bytes(path, 5) == b"12345"
    with pytest.raises(InputError, match=r"file.txt: expected at most 4 bytes"):
        files.read_bytes(path, 4)


def test_a_gzipped_file_is_unpacked_up_to_its_limit(tmp_path):
    path = tmp_path / "file.gz"
    path.write_bytes(gzip.compress(bytes(1000)) + gzip.compress(bytes(1000)))  # two members
    assert files.gunzip(path, 2000) == bytes(2000)
    with pytest.raises(InputError, match=r"file.gz is damaged \(expected at most 1,999 bytes"):
        files.gunzip(path, 1999)


def zipped(path: Path, method: int = zipfile.ZIP_DEFLATED, **members: bytes) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)
    return path


def npy(array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def test_an_npz_file_is_unpacked_up_to_its_limit(tmp_path):
    path = zipped(tmp_path / "file.npz", a=npy(np.zeros(1000)))
    assert (npz_arrays(path, ["a"])[0] == np.zeros(1000)).all()
    with pytest.raises(InputError, match=r"file.npz is damaged \(expected at most 1,000 bytes"):
        npz_arrays(path, ["a"], limit=1000)
    with pytest.raises(InputError, match=r"file.npz is damaged .*b.npy"):
        npz_arrays(path, ["b"])


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_compressions_of_a_zip_archive_are_refused(tmp_path, method):
    path = zipped(tmp_path / "file.npz", method, a=npy(np.zeros(10)))
    with pytest.raises(InputError, match=r"expected a.npy deflated and not encrypted"):
        npz_arrays(path, ["a"])


@pytest.mark.parametrize("array", [np.arange(6.0).reshape(2, 3), np.zeros((3, 0), ">i2")])
@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_of_numbers_are_read(array, order):
    found = npy_array(npy(array.copy(order=order)))
    assert (found == array).all() and found.dtype == array.dtype and found.shape == array.shape


@pytest.mark.parametrize(
    "header",
    [
        "{'descr': '|O', 'fortran_order': False, 'shape': (2,), }",
        "{'descr': '<U3', 'fortran_order': False, 'shape': (2,), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1152921504606846976,), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (-2,), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': " + "(" * 5000,
        "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (2,), }",
        "__import__('os')",
        "'\\_'",
        "",
    ],
)
def test_other_arrays_are_refused(header, tmp_path):
    content = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + bytes(16)
    with pytest.raises(ValueError):
        npy_array(content)
    (tmp_path / "array.npy").write_bytes(content)
    with pytest.raises(InputError, match=r"array.npy: expected a \.npy file"):
        memory_mapped(tmp_path / "array.npy")


def tarred(path: Path, **members: int) -> Path:
    """An archive of files of zeros."""
    with tarfile.open(path, "w:gz") as archive:
        for name, size in members.items():
            member = tarfile.TarInfo(name)
            member.size = size
            archive.addfile(member, io.BytesIO(bytes(size)))
    return path


def test_a_tar_archive_is_unpacked_up_to_its_limits(tmp_path):
    path = tarred(tmp_path / "file.tar.gz", a=10, b=100_000)
    with files.opened_tar(path) as archive:
        assert [len(files.read_member(archive, m, 100_000)) for m in archive] == [10, 100_000]
    with (
        pytest.raises(InputError, match="expected b to be a file of at most 99,999 bytes"),
        files.opened_tar(path) as archive,
    ):
        for member in archive:
            files.read_member(archive, member, 99_999)
    with (
        pytest.raises(InputError, match=r"file.tar.gz is damaged \(the archive unpacks to more"),
        files.opened_tar(path, 50_000) as archive,
    ):
        list(archive)


def test_headers_that_call_for_each_other_are_refused(tmp_path):
    link = tarfile.TarInfo("././@LongLink")
    link.type, link.size = tarfile.GNUTYPE_LONGNAME, 512
    content = (link.tobuf(tarfile.GNU_FORMAT) + b"x" * 512) * 2000
    (tmp_path / "file.tar.gz").write_bytes(gzip.compress(content))
    with pytest.raises(InputError, match=r"file.tar.gz is damaged"):
        imdb.reviews(tmp_path / "file.tar.gz", "train")


@pytest.mark.parametrize("name", ["squad.json", "train.jsonl.gz", "pieces.json"])
def test_json_that_is_nested_too_deeply_is_refused(tmp_path, name):
    content = b"[" * 200_000
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    with pytest.raises(InputError, match=f"{name}.*nested too deeply"):
        READERS[name](tmp_path / name)


def test_what_a_library_says_is_cut_to_a_line(tmp_path):
    with pytest.raises(InputError) as caught, files.reading(tmp_path / "file"):
        raise ValueError("x" * 1000 + "\nmore")
    assert len(str(caught.value)) < len(str(tmp_path)) + 300 and "\n" not in str(caught.value)
