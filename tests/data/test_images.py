"""Folders of images: what is found, how it is split, and what stays on the disk."""

from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from chainrule import data
from chainrule.data import cache
from chainrule.data.readers.encoders import encoder_from_json
from chainrule.data.readers.images import images as reader
from chainrule.data.readers.images.photos import PhotoEncoder
from chainrule.errors import InputError

RNG = np.random.default_rng(0)


def noise(height: int = 8, width: int = 8) -> np.ndarray:
    return RNG.integers(0, 256, (height, width, 3), dtype=np.uint8)


def save(path: Path, pixels: np.ndarray, **options: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels).save(path, **options)
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """15 different images of each of two classes."""
    for name in ("cat", "dog"):
        for k in range(15):
            save(tmp_path / "pets" / name / f"{k}.png", noise())
    return tmp_path / "pets"


def rows_of(splits: data.Splits) -> dict[bytes, set[str]]:
    """The splits in which every image is."""
    found: dict[bytes, set[str]] = {}
    for name in ("train", "validation", "test"):
        for row in getattr(splits, name).x:
            found.setdefault(row.numpy().tobytes(), set()).add(name)
    return found


def test_every_image_is_read_exactly_with_the_class_of_its_folder(folder: Path) -> None:
    splits = data.images(folder)
    assert splits.classes == ("cat", "dog")
    assert [len(s.y) for s in (splits.train, splits.validation, splits.test)] == [18, 6, 6]
    truth = {}
    for path in folder.rglob("*.png"):
        pixels = np.asarray(Image.open(path)).transpose(2, 0, 1)
        truth[pixels.tobytes()] = path.parent.name
    for split in (splits.train, splits.validation, splits.test):
        assert split.x.dtype == torch.uint8
        for x, y in zip(split.x, split.y.tolist(), strict=True):
            assert truth.pop(x.numpy().tobytes()) == splits.classes[y]
    assert not truth


def test_the_seed_moves_the_validation_split_and_never_the_test_split(folder: Path) -> None:
    first, second = data.images(folder, seed=0), data.images(folder, seed=1)
    assert torch.equal(first.test.x, second.test.x)
    assert not torch.equal(first.validation.x, second.validation.x)
    assert rows_of(first).keys() == rows_of(second).keys()


def test_formats_modes_and_rotations_become_the_same_pixels(tmp_path: Path) -> None:
    gray = np.full((8, 8), 90, np.uint8)
    gray[0, 1] = 200
    saved = [
        save(tmp_path / "gray.png", gray),
        save(tmp_path / "color.png", np.stack([gray] * 3, 2)),
        save(tmp_path / "lossless.webp", np.stack([gray] * 3, 2), lossless=True),
    ]
    Image.fromarray(gray).convert("P").save(tmp_path / "palette.png")
    opaque = np.dstack([gray, gray, gray, np.full((8, 8), 255, np.uint8)])
    saved += [tmp_path / "palette.png", save(tmp_path / "alpha.png", opaque)]
    exif = Image.Exif()
    exif[0x0112] = 6  # the camera was held upright: turn by 90 degrees
    saved.append(save(tmp_path / "turned.png", np.rot90(gray).copy(), exif=exif))
    expected = torch.from_numpy(gray).expand(1, 3, 8, 8) / 255
    for path in saved:
        assert torch.equal(PhotoEncoder(8).encode_file(path), expected), path.name


def test_an_oblong_image_is_cropped_padded_or_stretched() -> None:
    pixels = np.zeros((4, 8, 3), np.uint8)
    pixels[:, 2:6] = 255  # a white square in the middle
    assert (PhotoEncoder(4).square(pixels) == 255).all()
    padded = PhotoEncoder(8, resize="pad").square(pixels)
    assert (padded[:, 2:6, 2:6] == 255).all() and padded.sum() == 3 * 16 * 255
    stretched = PhotoEncoder(4, resize="stretch").square(pixels)
    assert stretched[:, :, 0].max() < 60 and stretched[:, :, 1:3].min() > 195


def test_predicting_reads_an_image_as_training_did(folder: Path) -> None:
    path = save(folder / "cat" / "photo.jpg", noise(30, 20))
    splits = data.images(folder, size=16, gray=True)
    encoder = encoder_from_json(splits.encoder.to_json())
    x = encoder.encode_file(path)
    assert x.shape == (1, 1, 16, 16)
    assert (x * 255).round().byte().numpy().tobytes() in rows_of(splits)


def test_copies_share_a_split_and_are_reported(folder: Path) -> None:
    for k in range(12):
        pixels = np.asarray(Image.open(folder / "cat" / f"{k}.png"))
        save(folder / "cat" / f"again {k}.webp", pixels, lossless=True)
    save(folder / "dog" / "cat.png", np.asarray(Image.open(folder / "cat" / "0.png")))
    splits = data.images(folder)
    assert all(len(places) == 1 for places in rows_of(splits).values())
    assert any("copies of other images: 13" in remark for remark in splits.remarks)
    assert any("different labels: 1" in remark for remark in splits.remarks)


@pytest.mark.parametrize("held", ["val", "Validation"])
def test_train_and_validation_are_splits_too_and_test_is_drawn_from_train(
    held: str, tmp_path: Path
) -> None:
    for part, number in (("train", 15), (held, 4)):
        for name in ("cat", "dog"):
            for k in range(number):
                save(tmp_path / part / name / f"{k}.png", noise())
    splits = data.images(tmp_path)
    assert splits.classes == ("cat", "dog")
    assert [len(s.y) for s in (splits.train, splits.validation, splits.test)] == [24, 8, 6]
    assert any("a part of train is drawn for it" in remark for remark in splits.remarks)
    given = {
        np.asarray(Image.open(path)).transpose(2, 0, 1).tobytes()
        for path in (tmp_path / held).rglob("*.png")
    }
    assert {x.numpy().tobytes() for x in splits.validation.x} == given


def test_folders_named_like_splits_are_never_classes(tmp_path: Path) -> None:
    for part in ("val", "test"):
        for k in range(10):
            save(tmp_path / part / "cat" / f"{k}.png", noise())
    with pytest.raises(InputError, match=r"names of splits \(test, val\) without train"):
        data.images(tmp_path)
    for k in range(10):
        save(tmp_path / "train" / "cat" / f"{k}.png", noise())
        save(tmp_path / "more" / "cat" / f"{k}.png", noise())
    with pytest.raises(InputError, match=r"has splits \(test, train, val\) beside .* \('more'\)"):
        data.images(tmp_path)


def test_a_train_among_buses_is_a_class(tmp_path: Path) -> None:
    for name in ("train", "bus"):
        for k in range(10):
            save(tmp_path / name / f"{k}.png", noise())
    assert data.images(tmp_path).classes == ("bus", "train")


def test_given_splits_are_kept_and_copies_leave_the_training_split(tmp_path: Path) -> None:
    for part, number in (("train", 12), ("test", 5)):
        for name in ("cat", "dog"):
            for k in range(number):
                save(tmp_path / part / name / f"{k}.png", noise())
    leak = np.asarray(Image.open(tmp_path / "test" / "cat" / "0.png"))
    save(tmp_path / "train" / "cat" / "leak.png", leak)
    splits = data.images(tmp_path)
    assert len(splits.test.y) == 10
    assert len(splits.train.y) + len(splits.validation.y) == 24
    assert rows_of(splits)[leak.transpose(2, 0, 1).tobytes()] == {"test"}
    assert any("more than one of the given splits: 1" in remark for remark in splits.remarks)


def test_what_cannot_be_used_is_reported(folder: Path) -> None:
    (folder / "cat" / "broken.png").write_bytes(b"no picture")
    whole = (folder / "cat" / "1.png").read_bytes()
    (folder / "cat" / "cut.png").write_bytes(whole[: len(whole) // 2])
    (folder / "notes.txt").write_text("by hand")
    save(folder / "outside.png", noise())
    said = "\n".join(data.images(folder).remarks)
    assert "30 images of 2 classes: cat (15), dog (15)" in said
    assert "left out: 2" in said and "broken.png" in said and "cut.png" in said
    assert "not images, and were ignored: 1" in said
    assert "outside the sub-folders, which were ignored: 1" in said


def test_labels_come_from_a_table(folder: Path) -> None:
    rows = [f"cat/{k}.png,{k % 3}" for k in range(15)]
    table = folder / "labels.csv"
    table.write_text("file,label\n" + "\n".join(rows) + "\n")
    splits = data.images(folder, table)
    assert splits.classes == ("0", "1", "2")
    assert any("without a label, which were ignored: 15" in remark for remark in splits.remarks)
    table.write_text("file,label\n" + "\n".join([*rows, "cat/99.png,1"]) + "\n")
    with pytest.raises(InputError, match=r"names 1 files that are not in .*99\.png"):
        data.images(folder, table)
    table.write_text("file,label\n" + "\n".join([*rows, rows[0]]) + "\n")
    with pytest.raises(InputError, match=r"names 'cat/0\.png' more than once"):
        data.images(folder, table)


def test_a_folder_is_decoded_once_until_it_changes(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    decoded = []
    decode = reader.decode_quietly

    def counted(content: bytes, mode: str, name: str) -> np.ndarray:
        decoded.append(name)
        return decode(content, mode, name)

    monkeypatch.setattr(reader, "decode_quietly", counted)
    first = data.images(folder)
    assert len(decoded) == 30
    again = data.images(folder)
    data.images(folder, seed=3)
    assert len(decoded) == 30
    assert torch.equal(again.train.x, first.train.x) and again.remarks == first.remarks
    save(folder / "cat" / "0.png", noise())
    data.images(folder)
    assert len(decoded) == 60


def test_a_damaged_copy_is_decoded_anew(folder: Path, user_cache: Path) -> None:
    first = data.images(folder).train.x.clone()
    for path in (user_cache / "mapped").glob("*.npy"):
        content = bytearray(path.read_bytes())
        content[-7] ^= 1
        path.write_bytes(content)
    assert torch.equal(data.images(folder).train.x, first)


def test_without_a_cache_folder_the_array_is_a_temporary_file(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = data.images(folder).train.x.clone()
    (tmp_path / "in the way").write_text("")
    monkeypatch.setattr(cache, "user_cache", lambda: tmp_path / "in the way")
    monkeypatch.setattr(cache.tempfile, "gettempdir", lambda: str(tmp_path))
    assert torch.equal(data.images(folder).train.x, expected)
    assert not list(tmp_path.glob("*.npy")) and not list(tmp_path.glob("*.tmp"))


def test_a_disk_without_room_is_named_before_anything_is_decoded(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = cache.shutil.disk_usage(folder)
    monkeypatch.setattr(cache.shutil, "disk_usage", lambda _: usage._replace(free=10))
    with pytest.raises(InputError, match=r"decoded data take 0\.0 GiB, .* choose a smaller"):
        data.images(folder)
