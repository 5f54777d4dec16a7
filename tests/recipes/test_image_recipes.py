"""The convolutional recipes on small data: runs, pictures of them, predictions for any picture."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from torch import nn

from chainrule.cli.main import main
from chainrule.data import Split, Splits
from chainrule.data.datasets import cifar10, digit_scenes
from chainrule.errors import InputError
from chainrule.models.convolution.cnn import CNN
from chainrule.nn.standardized import Standardized
from chainrule.recipes.convolution import (
    cifar10_plain20,
    cifar10_resnet20,
    digits_filters,
    digits_unet,
)
from chainrule.runs.configuration import Configuration
from chainrule.runs.pictures import outputs_of, winning_gradient
from chainrule.runs.recipe import DataSummary
from chainrule.runs.run import Run, build
from chainrule.training import loop

PHOTOGRAPHS = DataSummary((3, 32, 32), cifar10.CLASSES)


def splits(x: torch.Tensor, y: torch.Tensor, classes, encoder) -> Splits:
    return Splits(Split(x, y), Split(x[:20], y[:20]), Split(x[:20], y[:20]), classes, encoder)


@pytest.fixture(scope="module")
def photographs() -> Splits:
    """Pictures of one color each: the class is the color."""
    generator = torch.Generator().manual_seed(0)
    y = torch.arange(60) % 10
    colors = torch.rand(10, 3, 1, 1, generator=generator)
    x = colors[y].expand(-1, -1, 32, 32) + 0.1 * torch.rand(60, 3, 32, 32, generator=generator)
    encoder = cifar10.ImageEncoder(size=32, channels=3, invert_bright=False)
    return splits(x.clamp(0, 1).contiguous(), y, cifar10.CLASSES, encoder)


@pytest.fixture(scope="module")
def classified(photographs, tmp_path_factory, train_run) -> Run:
    """A finished run of the residual network on them."""
    folder = tmp_path_factory.mktemp("classified") / "run"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cifar10, "load", lambda *_: photographs)
        small = {"depth": 8, "epochs": 1, "batch_size": 30, "threads": 1}
        return train_run("cifar10-resnet20", folder, **small)


@pytest.fixture(scope="module")
def segmented(tmp_path_factory, train_run) -> Run:
    """A finished run of a small U-Net on scenes of blots."""
    generator = torch.Generator().manual_seed(0)
    blots = torch.zeros(160, 28, 28)
    blots[:, 8:20, 8:20] = 1
    x, y = digit_scenes.scene(blots, generator)
    encoder = digit_scenes.ImageEncoder(size=48, invert_bright=False)
    made = splits(x, y, digit_scenes.CLASSES, encoder)
    folder = tmp_path_factory.mktemp("segmented") / "run"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(digit_scenes, "load", lambda *_: made)
        small = {"base_channels": 4, "depth": 1, "epochs": 1, "batch_size": 20, "threads": 1}
        return train_run("digits-unet", folder, **small)


def test_a_run_stopped_inside_an_epoch_ends_in_the_weights_of_the_uninterrupted_one(
    photographs, tmp_path, monkeypatch
):
    """Running means of the batch norms and the moved images must go on where they were."""
    monkeypatch.setattr(cifar10, "load", lambda *_: photographs)
    monkeypatch.setattr(loop, "TICK", 0.0)  # every step may be the last
    recipe = cifar10_resnet20.Recipe.configured(depth=8, epochs=2, batch_size=20, threads=1)
    data = recipe.data(None)
    straight, first, resumed = (build(Configuration(recipe), PHOTOGRAPHS) for _ in range(3))
    list(recipe.fit(straight, data, None, "cpu"))
    steps = recipe.fit(first, data, tmp_path, "cpu")
    stopped = next(now for now in steps if (now.epoch, now.step) == (2, 1))
    steps.close()
    assert stopped.steps == 3
    list(recipe.fit(resumed, data, tmp_path, "cpu"))
    ours, theirs = resumed.state_dict(), straight.state_dict()
    assert ours["inner.bn1.num_batches_tracked"] == 6
    assert all(torch.equal(ours[name], theirs[name]) for name in theirs)
    assert not torch.equal(
        first.state_dict()["inner.bn1.running_mean"], ours["inner.bn1.running_mean"]
    )


def test_the_residual_network_and_its_plain_twin_have_the_papers_parameters():
    nets = [kind.Recipe().model(PHOTOGRAPHS) for kind in (cifar10_resnet20, cifar10_plain20)]
    numbers = [sum(p.numel() for p in net.parameters()) for net in nets]
    assert numbers == [269_722, 269_722]  # He et al. (2016), table 6: 0.27 million
    with torch.no_grad():
        nets[1].load_state_dict(nets[0].state_dict())
        x = torch.rand(2, 3, 32, 32)
        assert not torch.allclose(nets[0].eval()(x), nets[1].eval()(x))


def test_pixels_are_standardized_inside_the_model():
    seen = []

    class Keep(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            seen.append(x)
            return x.mean((2, 3))

    model = Standardized(Keep(), (0.5, 0.2, 0.1), (0.25, 0.5, 1.0))
    model(torch.tensor([1.0, 0.2, 0.0]).view(1, 3, 1, 1))
    torch.testing.assert_close(seen[0].flatten(), torch.tensor([2.0, 0.0, -0.1]))
    assert set(model.state_dict()) == {"mean", "spread"}


def test_images_are_shifted_and_mirrored_in_training_alone(photographs):
    seen = []

    class Keep(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            seen.append(x)
            return torch.zeros(len(x), 10)

    recipe = cifar10_resnet20.Recipe(padding=4)
    x = torch.arange(32.0).expand(8, 3, 32, 32).contiguous()
    source, task = recipe.source(Split(x, torch.arange(8))), recipe.task(photographs)
    torch.manual_seed(0)
    prepared = source.prepared(task, torch.device("cpu"), training=True)
    (moved,) = prepared.epoch(recipe.settings, 0)(0).inputs
    assert moved.shape == x.shape and not torch.equal(moved, x)
    source.prepared(task, torch.device("cpu"), training=False).evaluate(Keep(), task)
    assert torch.equal(seen[0], x)


def test_runs_leave_pictures_of_what_the_network_sees(classified, segmented):
    found = {path.stem for path in classified.folder.glob("*.png")}
    assert {"confusion", "filters", "features", "saliency"} <= found
    found = {path.stem for path in segmented.folder.glob("*.png")}
    assert {"segmentation", "filters", "features"} <= found


def test_saliency_is_the_gradient_of_the_winning_score():
    torch.manual_seed(0)
    model = CNN((1, 8, 8), (4,), 3, norm="batch", activation="tanh").double().train()
    x = torch.rand(2, 1, 8, 8, dtype=torch.float64)
    winners, gradient = winning_gradient(model, x)
    assert model.training
    model.eval()
    nudge = torch.zeros_like(x)
    nudge[1, 0, 3, 5] = 1e-6
    with torch.no_grad():
        slope = (model(x + nudge) - model(x - nudge))[1, winners[1]] / 2e-6
    assert gradient[1, 0, 3, 5].item() == pytest.approx(slope.item(), rel=1e-4)


def test_feature_maps_are_what_the_layer_answers():
    torch.manual_seed(0)
    model = CNN((1, 8, 8), (4,), 3)
    x = torch.rand(1, 1, 8, 8)
    (seen,) = outputs_of(model, ["stages.0.0.0"], x)
    layer = model.get_submodule("stages.0.0.0")
    np.testing.assert_allclose(seen, layer(x)[0].relu().detach().numpy(), rtol=1e-5, atol=1e-6)
    assert not layer._forward_hooks


def save(folder: Path, name: str, image: Image.Image, **options) -> Path:
    image.save(folder / name, **options)
    return folder / name


def test_every_kind_of_picture_is_answered(classified, photographs, tmp_path):
    pixels = (photographs.test.x[0].permute(1, 2, 0) * 255).round().byte().numpy()
    color = Image.fromarray(pixels)
    large = color.resize((90, 60))
    turned = Image.Exif()
    turned[0x0112] = 6
    deep = Image.fromarray(np.asarray(color.convert("L")).astype(np.uint16) * 257)
    paths = [
        save(tmp_path, "same.png", color),
        save(tmp_path, "large.jpg", large, quality=95),
        save(tmp_path, "turned.jpg", large, exif=turned),
        save(tmp_path, "clear.png", color.convert("RGBA")),
        save(tmp_path, "gray.png", color.convert("L")),
        save(tmp_path, "deep.png", deep),
        save(tmp_path, "palette.png", color.convert("P")),
    ]
    found = {answer["input"]: answer for answer in classified.predict(paths)}
    assert list(found) == [path.name for path in paths]
    for answer in found.values():
        assert sum(answer["probabilities"].values()) == pytest.approx(1, abs=1e-5)
    assert found["same.png"] == found["clear.png"] | {"input": "same.png"}
    assert found["gray.png"] == found["deep.png"] | {"input": "gray.png"}
    model = Run.load(classified.folder).model
    with torch.no_grad():  # the same picture, standardized as in training
        p = model(torch.from_numpy(pixels).permute(2, 0, 1)[None] / 255).softmax(1)[0]
    best = int(p.argmax())
    assert found["same.png"]["prediction"] == cifar10.CLASSES[best]
    assert found["same.png"]["probability"] == pytest.approx(p[best].item(), abs=1e-5)


def test_the_command_prints_the_three_likeliest_classes(classified, tmp_path, capsys):
    path = save(tmp_path, "a.png", Image.new("RGB", (40, 30), "teal"))
    assert main(["predict", str(classified.folder), str(path)]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    (answer,) = classified.predict(path)
    ranked = sorted(answer["probabilities"], key=answer["probabilities"].get, reverse=True)
    assert all(name in printed for name in ranked[:3])


def test_pixel_classes_come_as_shares_and_an_overlay(segmented, tmp_path, capsys):
    path = save(tmp_path, "a.png", Image.new("RGB", (70, 50), "gray"))
    assert main(["predict", str(segmented.folder), str(path), "--json"]) == 0
    (answer,) = json.loads(capsys.readouterr().out)["predictions"]
    assert sum(answer["shares"].values()) == pytest.approx(1, abs=1e-5)
    with Image.open(tmp_path / "a.png-overlay.png") as drawn:
        assert drawn.size[0] > 500
    same = save(tmp_path, "a.jpg", Image.new("RGB", (70, 50), "white"))
    assert main(["predict", str(segmented.folder), str(path), str(same), "--json"]) == 0
    named = [answer["overlay"] for answer in json.loads(capsys.readouterr().out)["predictions"]]
    assert named == [str(tmp_path / f"{name}-overlay.png") for name in ("a.png", "a.jpg")]
    assert (
        main(["predict", str(segmented.folder), str(path), "--out", str(tmp_path / "b.png")]) == 0
    )
    assert (tmp_path / "b.png").is_file()
    assert (
        main(["predict", str(segmented.folder), str(path), "--out", str(tmp_path / "c.csv")]) == 0
    )
    assert "share(ground)" in (tmp_path / "c.csv").read_text("utf-8")


def test_one_picture_cannot_hold_two_overlays_nor_a_whole_pictures_class(
    classified, segmented, tmp_path, capsys
):
    path = str(save(tmp_path, "a.png", Image.new("L", (48, 48))))
    wanted = ["--out", str(tmp_path / "o.png")]
    assert main(["predict", str(segmented.folder), path, path, *wanted]) == 2
    assert main(["predict", str(classified.folder), path, *wanted]) == 2
    assert "expected a CSV file" in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "o.png").exists()


@pytest.mark.parametrize("setting", [{"label_smoothing": 0.1}, {"members": 2}, {"teacher": "t"}])
def test_settings_of_one_label_per_picture_are_refused_for_pixels(setting):
    with pytest.raises(InputError, match="one label per pixel"):
        digits_unet.Recipe.configured(**setting)


def test_only_the_last_layer_sees_the_digits_through_fixed_filters() -> None:
    model = digits_filters.Recipe().model(DataSummary((1, 8, 8), tuple("0123456789")))
    assert sum(weight.numel() for weight in model.parameters()) == 10 * (6 * 4 * 4 + 1)
    x = torch.arange(8.0).expand(2, 1, 8, 8)  # a ramp to the right
    responses = dict(zip(digits_filters.kernels(), model[0](x).unbind(1), strict=True))
    torch.testing.assert_close(responses["Sobel, down"], torch.zeros(2, 4, 4))
    torch.testing.assert_close(responses["Sobel, right"][:, :, 1:3], torch.ones(2, 4, 2))
    torch.testing.assert_close(responses["Laplacian"][:, :, 1:3], torch.zeros(2, 4, 2))
    torch.testing.assert_close(model[0](-x), model[0](x))
