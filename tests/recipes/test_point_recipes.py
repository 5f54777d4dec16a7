"""Recipes on sets and clouds: the user's own meshes, what is saved, what is refused."""

import json
from pathlib import Path

import pytest
import torch
from PIL import Image
from safetensors.torch import load_file

from chainrule.cli.main import main
from chainrule.data.datasets import joined_parts
from chainrule.data.datasets.digit_sets import DigitSets, labeled, sets
from chainrule.data.readers.points.point_encoders import PointEncoder
from chainrule.data.splits import Split, Splits
from chainrule.errors import InputError
from chainrule.learning.tasks import decode_segments
from chainrule.recipes.families.point_pictures import kept, one_of_each, side
from chainrule.recipes.geometric import (
    digit_max_deepsets,
    digit_sum_deepsets,
    modelnet10_pointnet,
    parts_pointnet,
)
from chainrule.runs.predictions import Predictions
from chainrule.runs.run import Run
from chainrule.training import outputs

SQUARE = "OFF\n4 1 0\n0 0 0\n2 0 0\n2 1 0\n0 1 0\n4 0 1 2 3\n"


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory, train_run) -> Run:
    """A run on a few joined parts."""
    splits = (joined_parts.objects(8, seed) for seed in range(3))
    data = Splits(*splits, joined_parts.CLASSES, PointEncoder(512))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parts_pointnet.Recipe, "data", lambda self, folder: data)
        folder = tmp_path_factory.mktemp("parts") / "run"
        return train_run("parts-pointnet", folder, epochs=1, batch_size=4, features=8)


@pytest.fixture(scope="module")
def furniture(tmp_path_factory: pytest.TempPathFactory, train_run) -> Run:
    """A run on clouds of two kinds: flat ones and upright ones."""
    generator = torch.Generator().manual_seed(0)
    y = torch.arange(64) % 2
    x = 2 * torch.rand(64, 100, 3, generator=generator) - 1
    x[y == 0, :, 2] = 0
    x[y == 1, :, 0] = 0
    part = Split(x, y)
    data = Splits(part, part, part, ("flat", "upright"), PointEncoder(100))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(modelnet10_pointnet.Recipe, "data", lambda self, folder: data)
        small = {"epochs": 24, "batch_size": 8, "features": 16, "visible": 40}
        folder = tmp_path_factory.mktemp("furniture") / "run"
        return train_run("modelnet10-pointnet", folder, missing=0.0, dropout=0.0, **small)


@pytest.fixture
def digits(monkeypatch: pytest.MonkeyPatch) -> DigitSets:
    """Sets of 40 pictures, in which a digit is as bright as its number."""
    labels = torch.arange(40) % 10
    images = (25 * labels)[:, None, None].expand(-1, 28, 28).to(torch.uint8).contiguous()
    rows = [sets(torch.arange(40), (1, 4), number, seed=0) for number in (300, 20, 20)]
    data = DigitSets(*(labeled(x, labels, "sum") for x in rows), images=images, labels=labels)
    monkeypatch.setattr(digit_sum_deepsets.Recipe, "data", lambda self, folder: data)
    monkeypatch.setattr(digit_sum_deepsets.Recipe, "figures", lambda self, predictions: {})
    return data


def test_a_mesh_and_a_list_of_points_get_a_class(furniture: Run, tmp_path: Path) -> None:
    mesh, points = tmp_path / "square.off", tmp_path / "upright.xyz"
    mesh.write_text(SQUARE)
    points.write_text("\n".join(f"5 {k % 10} {k // 10}" for k in range(100)))
    flat, upright = furniture.predict([mesh, points])
    assert (flat["prediction"], upright["prediction"]) == ("flat", "upright")
    assert sum(flat["probabilities"].values()) == pytest.approx(1, abs=1e-5)


def test_the_pictures_of_a_run_on_clouds_are_there(furniture: Run, parts: Run) -> None:
    names = {path.stem for path in furniture.folder.glob("*.png")}
    assert {"clouds", "critical", "robustness", "confusion"} <= names
    assert (parts.folder / "segmentation.png").is_file()


def test_a_broken_mesh_is_refused_without_a_trace(furniture: Run, tmp_path: Path, capsys) -> None:
    path = tmp_path / "broken.off"
    path.write_text(SQUARE.replace("4 0 1 2 3", "4 0 1 2 7"))
    assert main(["predict", str(furniture.folder), str(path)]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "broken.off: expected vertex indices from 0 to 3, got 0 to 7" in said


def test_parts_come_as_shares_and_a_picture(parts: Run, tmp_path: Path, capsys) -> None:
    path = tmp_path / "square.off"
    path.write_text(SQUARE)
    assert main(["predict", str(parts.folder), str(path), "--json"]) == 0
    (answer,) = json.loads(capsys.readouterr().out)["predictions"]
    assert sum(answer["shares"].values()) == pytest.approx(1, abs=1e-5)
    largest = max(answer["shares"], key=answer["shares"].get)
    assert answer["prediction"].split(", ")[0] == largest
    with Image.open(answer["overlay"]) as drawn:
        assert drawn.size[0] > 500


def test_the_first_class_is_ground_in_pictures_and_a_part_like_others_in_clouds() -> None:
    logits = torch.eye(3)[torch.tensor([0, 0, 0, 1])].T[None]
    (cloud,) = decode_segments(logits, ("a", "b", "c"))
    (image,) = decode_segments(logits.view(1, 3, 2, 2), ("a", "b", "c"))
    assert (cloud["prediction"], image["prediction"]) == ("a, b", "b")
    assert cloud["shares"] == {"a": 0.75, "b": 0.25, "c": 0.0}


def test_the_table_of_images_is_not_saved_with_the_weights(
    digits, tmp_path: Path, train_run
) -> None:
    folder = tmp_path / "run"
    train_run("digit-sum-deepsets", folder, epochs=1, filters=(4,), features=8)
    names = set(load_file(folder / "model.safetensors"))
    assert names and all(name.startswith(("phi.", "rho.")) for name in names)
    saved = load_file(folder / "checkpoints" / "last.safetensors")
    assert not [name for name, tensor in saved.items() if tensor.dtype == torch.uint8]
    run = Run.load(folder)
    x, _ = digits.test
    shown = digits.images[x.clamp_min(0)][:, :, None].float() / 255
    again = run.recipe.evaluate(Predictions(run.recipe, run.model, digits))["test"]["mae"]
    found = outputs(run.model, (shown, x >= 0)).flatten()
    assert again == pytest.approx((found - digits.test.y).abs().mean().item(), rel=1e-5)


def test_sums_of_brightness_are_learned_and_a_run_may_start_from_another(
    digits, tmp_path: Path, train_run
) -> None:
    name, sizes = "digit-sum-deepsets", {"filters": (2,), "features": 8}
    quick = {"epochs": 20, "batch_size": 20, "learning_rate": 0.02}
    first = train_run(name, tmp_path / "first", **sizes, **quick)
    found = first.result["metrics"]["test"]["mae"]
    assert found < 2, "a guess would be wrong by about 6"
    start = {"from_run": str(first.folder), "freeze": "phi.*"}
    train_run(name, tmp_path / "second", epochs=1, learning_rate=1e-9, **sizes, **start)
    weights = [load_file(tmp_path / name / "model.safetensors") for name in ("first", "second")]
    for name in ("phi.0.head.layers.0.weight", "rho.inner.weight"):
        torch.testing.assert_close(weights[0][name], weights[1][name], atol=1e-6, rtol=0)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: digit_sum_deepsets.Recipe.configured(members=2),
        lambda: digit_max_deepsets.Recipe.configured(teacher="runs/none"),
        lambda: parts_pointnet.Recipe.configured(label_smoothing=0.1),
        lambda: modelnet10_pointnet.Recipe(visible=0).augmentation(),
    ],
)
def test_settings_that_make_no_sense_here_are_refused(wrong) -> None:
    with pytest.raises(InputError):
        wrong()


def test_missing_points_are_the_last_of_their_order() -> None:
    x = torch.tensor([[[3.0, 0.0], [1.0, 0.0], [2.0, 0.0], [0.0, 0.0]]])
    order = x[..., 0].argsort(1)
    assert kept(x, order, 0.5)[0, :, 0].tolist() == [0, 1]
    assert kept(x, order, 0.99).shape == (1, 1, 2)
    assert one_of_each(torch.tensor([2, 0, 2, 1])).tolist() == [1, 3, 0]
    along = side(x, torch.Generator().manual_seed(0))[0]
    assert along.argsort().tolist() in ([3, 1, 2, 0], [0, 2, 1, 3]), "not along one line"
