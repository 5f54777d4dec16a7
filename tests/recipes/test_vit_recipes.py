"""Vision transformers on small images: they learn, and show where they look."""

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch

from chainrule.data import Split, Splits
from chainrule.data.datasets import mnist
from chainrule.data.readers.encoders import ImageEncoder
from chainrule.errors import InputError
from chainrule.models.attention.vit import ViT
from chainrule.models.feedforward.ensemble import Ensemble
from chainrule.recipes.attention import cifar10_vit, fashion_vit, mnist_vit
from chainrule.recipes.families.vit import first_of_each
from chainrule.runs.configuration import Configuration
from chainrule.runs.options import RunOptions
from chainrule.runs.predictions import Predictions
from chainrule.runs.recipe import DataSummary
from chainrule.runs.run import Run, build

DIGITS = tuple("0123456789")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, train_run: Callable[..., Run]) -> Run:
    sizes = {"hidden_size": 16, "num_layers": 2, "num_heads": 2, "patch_size": 7}
    quick = {"epochs": 60, "batch_size": 20, "learning_rate": 5e-3, "shift": 0.0}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mnist, "load", lambda *_: spots(1, 28))
        return train_run("mnist-vit", tmp_path_factory.mktemp("vit") / "run", **sizes, **quick)


def spots(channels: int, side: int) -> Splits:
    """Images with one bright square: its place among ten is the class."""
    generator = torch.Generator().manual_seed(0)
    y = torch.arange(80) % 10
    x = 0.2 * torch.rand(80, channels, side, side, generator=generator)
    for image, k in zip(x, y.tolist(), strict=True):
        top, left = 7 * (k // 4), 7 * (k % 4)
        image[:, top : top + 7, left : left + 7] += 0.8
    part = Split(x, y)
    encoder = ImageEncoder(size=side, channels=channels, invert_bright=False)
    return Splits(part, part, part, DIGITS, encoder)


def test_a_vision_transformer_learns_and_shows_where_it_looks(run: Run) -> None:
    assert run.result["metrics"]["train"]["accuracy"] > 0.5  # of 0.1 by chance
    for name in ("confusion", "rollout", "heads", "positions"):
        assert (run.folder / f"{name}.png").stat().st_size > 5_000, name


def test_of_an_ensemble_the_first_member_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = {}
    monkeypatch.setattr("chainrule.runs.recipe.BaseRecipe.figures", lambda *_: {})
    for name in ("attention_rollout", "attention_heads", "positional_encoding"):
        monkeypatch.setattr(
            f"chainrule.plots.attention.{name}",
            lambda *arguments, name=name: drawn.update({name: arguments}),
        )
    recipe = cifar10_vit.Recipe(patch_size=8, hidden_size=8, num_layers=2, num_heads=2)
    data = spots(3, 32)
    configuration = Configuration(recipe, RunOptions(members=2))
    model = build(configuration, DataSummary((3, 32, 32), DIGITS))
    assert isinstance(model, Ensemble)
    recipe.figures(Predictions(recipe, model, data))
    together = drawn.copy()
    recipe.figures(Predictions(recipe, model.members[0], data))
    images, looked, named = drawn["attention_rollout"]
    assert images.shape == (8, 32, 32, 3) and looked.shape == (8, 4, 4)
    assert list(named) == list("01234567")
    assert drawn["attention_heads"][1].shape == (2, 2, 4, 4)
    assert (together["attention_rollout"][1] == looked).all()
    vit = model.members[0].inner
    seen = vit.attention_rollout(
        (data.test.x[:8] - model.members[0].mean) / model.members[0].spread
    )
    torch.testing.assert_close(torch.from_numpy(looked), seen)


@pytest.mark.parametrize(
    ("kind", "shape", "patches"),
    [
        (mnist_vit, (1, 28, 28), 49),
        (fashion_vit, (1, 28, 28), 49),
        (cifar10_vit, (3, 32, 32), 64),
    ],
)
def test_every_patch_has_its_place(kind, shape: tuple[int, ...], patches: int) -> None:
    recipe = kind.Recipe()
    model = build(Configuration(recipe), DataSummary(shape, DIGITS))
    (vit,) = (part for part in model.modules() if isinstance(part, ViT))
    assert len(vit.positions.weight) == patches + 1
    x = torch.rand(2, *shape)
    torch.manual_seed(0)
    moved = recipe.augmentation()(x)
    assert moved.shape == x.shape and not torch.equal(moved, x)
    with torch.no_grad():
        assert model.eval()(x).shape == (2, 10)
    with pytest.raises(InputError, match="multiple of patch_size"):
        replace(recipe, patch_size=5).model(DataSummary(shape, DIGITS))


def test_the_first_example_of_each_of_some_classes() -> None:
    assert first_of_each(torch.tensor([4, 4, 1, 0, 1, 9])) == [3, 2, 0, 5]
    assert len(first_of_each(torch.arange(20))) == 8
