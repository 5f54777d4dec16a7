"""CIFAR-10: known images as oracles, the archive read without unpacking, damage refused."""

import io
import tarfile

import numpy as np
import pytest
import torch

from chainrule.data import cache
from chainrule.data.datasets import cifar10
from chainrule.errors import InputError

FEW = 4


@pytest.fixture
def small(monkeypatch) -> dict[str, bytes]:
    """Six files of four images each, in the layout of the published ones."""
    monkeypatch.setattr(cifar10, "IMAGES", FEW)
    generator = np.random.default_rng(0)
    rows = generator.integers(0, 256, (6, FEW, cifar10.ROW), np.uint8)
    rows[:, :, 0] %= 2
    return {name: part.tobytes() for name, part in zip(cifar10.FILES, rows, strict=True)}


def unpacked(folder, files: dict[str, bytes]):
    (folder / "cifar10").mkdir()
    for name, content in files.items():
        (folder / "cifar10" / name).write_bytes(content)
    return folder


def packed(folder, files: dict[str, bytes], inside: str = "cifar-10-batches-bin/"):
    path = folder / cifar10.ARCHIVE
    path.parent.mkdir(parents=True)
    with tarfile.open(path, "w:gz") as archive:
        for name, content in {f"{inside}{k}": v for k, v in files.items()}.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
        evil = tarfile.TarInfo("../evil")
        evil.size = 4
        archive.addfile(evil, io.BytesIO(b"evil"))
    return folder


def test_the_published_set_has_its_known_images_counts_and_means(cifar10_data):
    rows = cifar10.published_rows(cifar10_data)
    first, first_test = rows[0], rows[-10_000]
    assert cifar10.CLASSES[first[0]] == "frog"
    assert first[[1, 1 + 1024, 1 + 2048]].tolist() == [59, 62, 63]
    assert cifar10.CLASSES[first_test[0]] == "cat"
    assert np.bincount(rows[:50_000, 0]).tolist() == [5000] * 10
    assert np.bincount(rows[50_000:, 0]).tolist() == [1000] * 10
    planes = rows[:50_000, 1:].reshape(50_000, 3, 1024)
    assert (planes.mean((0, 2)) / 255).round(4).tolist() == list(cifar10.MEAN)
    assert (planes[::7].std((0, 2)) / 255).round(2).tolist() == [0.25, 0.24, 0.26]


def test_archive_and_unpacked_files_read_the_same_and_nothing_is_unpacked(small, tmp_path):
    (tmp_path / "a").mkdir(), (tmp_path / "b").mkdir()
    one = cifar10.load(unpacked(tmp_path / "a", small), validation=3)
    two = cifar10.load(packed(tmp_path / "b", small), validation=3)
    assert torch.equal(one.train.x, two.train.x) and torch.equal(one.test.y, two.test.y)
    assert one.train.x.shape == (5 * FEW - 3, 3, 32, 32) and one.test.x.shape[0] == FEW
    assert [path.name for path in (tmp_path / "b").rglob("*") if path.is_file()] == [
        "cifar-10-binary.tar.gz"
    ]
    assert not (tmp_path / "evil").exists()


def test_rows_are_red_green_and_blue_planes_line_by_line(small, tmp_path):
    content = np.frombuffer(small["test_batch.bin"], np.uint8).reshape(FEW, -1)
    x = cifar10.load(unpacked(tmp_path, small), validation=3).test.x
    assert x[1, 2, 5, 7] == np.float32(content[1, 1 + 2 * 1024 + 5 * 32 + 7]) / np.float32(255)


def test_the_published_archive_is_asked_for_where_a_file_is_missing(small, tmp_path, monkeypatch):
    asked = []

    def fetch(name, url, checksum, into):
        asked.append((name, url, checksum))
        raise InputError("no network")

    monkeypatch.setattr(cache, "fetch", fetch)
    del small["test_batch.bin"]
    with pytest.raises(InputError, match="no network"):
        cifar10.load(unpacked(tmp_path, small))
    assert asked == [(cifar10.ARCHIVE, cifar10.ABOUT.source, cifar10.CHECKSUM)]
    assert asked[0][1].endswith("cifar-10-binary.tar.gz")  # never the pickled one


@pytest.mark.parametrize("harm", ["cut", "label"])
def test_damaged_files_are_refused(small, tmp_path, harm):
    broken = small["data_batch_3.bin"]
    small["data_batch_3.bin"] = broken[:-1] if harm == "cut" else b"\x0b" + broken[1:]
    with pytest.raises(InputError, match=r"data_batch_3.bin is damaged .*; delete it"):
        cifar10.load(unpacked(tmp_path, small))


@pytest.mark.parametrize("harm", ["missing", "short", "elsewhere"])
def test_archives_without_the_six_files_are_refused(small, tmp_path, harm):
    if harm == "missing":
        del small["data_batch_2.bin"]
    if harm == "short":
        small["data_batch_2.bin"] = b""
    folder = packed(tmp_path, small, "" if harm == "elsewhere" else "cifar-10-batches-bin/")
    with pytest.raises(InputError, match=r"is damaged .*expected 12292 bytes"):
        cifar10.load(folder)


def test_a_truncated_archive_is_refused(small, tmp_path):
    path = packed(tmp_path, small) / cifar10.ARCHIVE
    path.write_bytes(path.read_bytes()[:-2000])
    with pytest.raises(InputError, match=r"binary.tar.gz is damaged .*; delete it"):
        cifar10.load(tmp_path)


def test_a_link_in_the_place_of_a_file_is_refused(small, tmp_path):
    (tmp_path / "cifar10").mkdir()
    with tarfile.open(tmp_path / cifar10.ARCHIVE, "w:gz") as archive:
        for name in small:
            member = tarfile.TarInfo(f"cifar-10-batches-bin/{name}")
            member.type, member.linkname = tarfile.SYMTYPE, "/etc/passwd"
            archive.addfile(member)
    with pytest.raises(InputError, match="is damaged"):
        cifar10.load(tmp_path)
