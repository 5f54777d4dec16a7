"""Training on a user's images and masks, from the shell: classes, faults, prediction, resuming."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from chainrule.cli.main import main
from chainrule.data import cache
from chainrule.data.readers.images.masked_images import masked_images
from chainrule.errors import InputError
from chainrule.runs.run import Run

VALUES = {"gray": (0, 255), "palette": (0, 7), "color": (0x000000, 0xFF0040)}
PALETTE = [k % 256 for k in range(768)]


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setattr(cache, "user_cache", lambda: folder)


def scene(k: int) -> tuple[np.ndarray, np.ndarray]:
    """A bright square on dark noise, and where it is."""
    draw = np.random.default_rng(k)
    height, width = 16 + k % 3, 18
    pixels = draw.integers(0, 60, (height, width, 3), dtype=np.uint8)
    top, left = draw.integers(0, 9, 2)
    inside = np.zeros((height, width), bool)
    inside[top : top + 7, left : left + 7] = True
    pixels[inside] += 180
    return pixels, inside


def save_mask(path: Path, inside: np.ndarray, kind: str) -> None:
    low, high = VALUES[kind]
    if kind == "color":
        Image.fromarray(np.where(inside[..., None], (255, 0, 64), 0).astype(np.uint8)).save(path)
        return
    drawn = Image.fromarray(np.where(inside, high, low).astype(np.uint8))
    if kind == "palette":
        drawn.putpalette(PALETTE)
    drawn.save(path)


def write(folder: Path, number: int = 30, kind: str = "gray") -> Path:
    for place in ("images", "masks"):
        (folder / place).mkdir(parents=True)
    for k in range(number):
        pixels, inside = scene(k)
        Image.fromarray(pixels).save(folder / "images" / f"{k}.png")
        save_mask(folder / "masks" / f"{k}.png", inside, kind)
    return folder


def flags(folder: Path) -> list[str]:
    return ["--images", str(folder / "images"), "--masks", str(folder / "masks")]


SMALL = ["--base-channels", "4", "--depth", "2", "--batch-size", "8", "--learning-rate", "0.01"]


def test_squares_are_found_and_masks_written_for_new_images(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, run = write(tmp_path / "data", kind="palette"), tmp_path / "run"
    command = ["train", "unet", *flags(folder), *SMALL, "--epochs", "20", "--out", str(run)]
    assert main([*command, "--class-names", "ground", "square"]) == 0
    result = json.loads((run / "result.json").read_text("utf-8"))
    assert result["metrics"]["test"]["mean_iou"] > 0.85
    assert "30 images with palette masks of 2 classes: 0 (" in result["remarks"][0]
    assert "stretched to 17 × 17" in result["remarks"][1]
    assert (run / "segmentation.png").is_file()
    new = tmp_path / "new" / "deeper"
    new.mkdir(parents=True)
    pixels, inside = scene(100)
    Image.fromarray(pixels).save(new / "a.jpg")
    capsys.readouterr()
    out = tmp_path / "found"
    assert main(["predict", str(run), str(tmp_path / "new"), "--out", str(out), "--json"]) == 0
    (answer,) = json.loads(capsys.readouterr().out)["predictions"]
    assert answer["prediction"] == "square"
    with Image.open(out / "deeper" / "a.png") as mask:
        assert (
            mask.mode == "P" and mask.size == (18, 17) and mask.getpalette()[21:24] == [21, 22, 23]
        )
        values = np.array(mask)
    assert {*np.unique(values)} == {0, 7}
    assert np.mean((values == 7) == inside) > 0.9
    assert not list(new.glob("*overlay*"))


@pytest.mark.parametrize("kind", ["gray", "palette", "color"])
def test_the_values_of_masks_are_the_classes_and_written_back(kind: str, tmp_path: Path) -> None:
    folder = write(tmp_path / kind, 20, kind)
    data = masked_images(folder / "images", folder / "masks", size=16)
    form = data.encoder.mask  # type: ignore[union-attr]
    assert form.kind == kind and form.values == VALUES[kind]
    assert data.classes == (
        ("#000000", "#ff0040") if kind == "color" else tuple(map(str, form.values))
    )
    assert data.train.x.dtype == torch.uint8 and data.train.x.shape[1:] == (3, 16, 16)
    bright = data.train.x.float().mean(1) > 150
    assert ((data.train.y == 1) == bright).float().mean() > 0.9
    save_mask(tmp_path / "again.png", scene(0)[1], kind)
    with Image.open(tmp_path / "again.png") as expected:
        made = form.image(scene(0)[1].astype(int))
        assert made.mode == expected.mode and (np.array(made) == np.array(expected)).all()


def test_copies_share_a_split_and_given_splits_have_no_leaks(tmp_path: Path) -> None:
    folder = write(tmp_path / "plain", 20)
    for place in ("images", "masks"):
        content = (folder / place / "0.png").read_bytes()
        (folder / place / "copy.png").write_bytes(content)
        for part, names in (("train", range(10)), ("test", range(9, 20))):
            (tmp_path / "given" / place / part).mkdir(parents=True)
            for k in names:
                target = tmp_path / "given" / place / part / f"{k}.png"
                target.write_bytes((folder / place / f"{k}.png").read_bytes())
    data = masked_images(folder / "images", folder / "masks")
    assert any("copies of other images: 1 ('0.png', 'copy.png')" in r for r in data.remarks)
    given = masked_images(tmp_path / "given" / "images", tmp_path / "given" / "masks")
    assert len(given.test.x) == 11 and len(given.train.x) + len(given.validation.x) == 9
    assert any("more than one of the given splits: 1" in remark for remark in given.remarks)


def test_train_and_val_are_given_splits_and_test_is_drawn_from_train(tmp_path: Path) -> None:
    for place in ("images", "masks"):
        for part, names in (("train", range(15)), ("val", range(15, 20))):
            (tmp_path / place / part).mkdir(parents=True)
            for k in names:
                pixels, inside = scene(k)
                target = tmp_path / place / part / f"{k}.png"
                if place == "images":
                    Image.fromarray(pixels).save(target)
                else:
                    save_mask(target, inside, "gray")
    given = masked_images(tmp_path / "images", tmp_path / "masks")
    assert [len(s.x) for s in (given.train, given.validation, given.test)] == [12, 5, 3]
    assert any("a part of train is drawn for it" in remark for remark in given.remarks)


def test_faults_of_masks_are_told_in_a_sentence(tmp_path: Path) -> None:
    folder = write(tmp_path / "data", 12)
    images, masks = folder / "images", folder / "masks"

    def refused(match: str, **settings: int) -> None:
        with pytest.raises(InputError, match=match):
            masked_images(images, masks, **settings)

    (masks / "3.png").rename(masks / "33.png")
    refused(r"1 images without a mask in .*: '3.png'; 1 masks without an image in .*: '33.png'")
    (masks / "33.png").rename(masks / "3.png")
    Image.new("L", (5, 6)).save(masks / "3.png")
    refused(r"1 masks have another size than their images: 3.png \(5 × 6, its image 18 × 16\)")
    shaded = np.arange(16 * 18).reshape(16, 18) % 200
    Image.fromarray(shaded.astype(np.uint8)).save(masks / "3.png")
    refused("more than 64 different values", size=16)
    save_mask(masks / "3.png", scene(3)[1], "color")
    refused(r"different kinds: color \(3.png\) and gray")
    Image.new("L", (18, 16)).save(masks / "3.jpg")
    refused("1 masks that are not PNG files: '3.jpg'")
    with pytest.raises(InputError, match="the same folder"):
        masked_images(images, images)


def test_palettes_that_disagree_are_refused(tmp_path: Path) -> None:
    folder = write(tmp_path, 12, "palette")
    with Image.open(folder / "masks" / "3.png") as image:
        image.putpalette([255] * 768)
        image.save(folder / "masks" / "3.png")
    with pytest.raises(InputError, match=r"palettes of 0.png and 3.png differ at index 0"):
        masked_images(folder / "images", folder / "masks")


def test_damaged_files_are_left_out_and_named(tmp_path: Path) -> None:
    folder = write(tmp_path, 14)
    (folder / "images" / "1.png").write_bytes(b"no image")
    (folder / "masks" / "2.png").write_bytes(b"no mask")
    data = masked_images(folder / "images", folder / "masks")
    assert sum(len(s.x) for s in (data.train, data.validation, data.test)) == 12
    (remark,) = [r for r in data.remarks if "left out: 2" in r]
    assert "1.png cannot be read" in remark and "2.png cannot be read as a PNG mask" in remark


def test_a_stopped_run_with_mirrored_images_continues_bit_for_bit(tmp_path: Path) -> None:
    folder, whole, stopped = write(tmp_path / "data", 20), tmp_path / "whole", tmp_path / "stopped"
    command = ["train", "unet", *flags(folder), *SMALL, "--epochs", "2", "--no-pictures"]
    assert main([*command, "--out", str(whole)]) == 0
    stopped.mkdir()
    (stopped / "config.json").write_bytes((whole / "config.json").read_bytes())
    steps = Run.load(stopped).train("cpu", pictures=False)
    while not next(steps).record:
        pass
    steps.close()
    again = Run.load(stopped)
    list(again.train("cpu", pictures=False))
    for name, tensor in Run.load(whole).model.state_dict().items():
        assert torch.equal(tensor, again.model.state_dict()[name]), name
