"""Training on a user's folder of images: resume, transfer, members, prediction."""

from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from chainrule.api import train
from chainrule.data import cache
from chainrule.nn.standardized import Standardized
from chainrule.recipes.families.photographs import channel_statistics
from chainrule.runs.run import Run
from chainrule.training.evaluation import outputs

SMALL = {
    "learning_rate": 0.01,
    "filters": (4,),
    "epochs": 2,
    "batch_size": 16,
    "padding": 0,
    "pictures": False,
}


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setattr(cache, "user_cache", lambda: folder)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Reddish and bluish noise."""
    draw = np.random.default_rng(0)
    for k in range(60):
        pixels = draw.integers(0, 50, (8, 8, 3), dtype=np.uint8)
        pixels[..., 2 * (k % 2)] += 200
        place = tmp_path / "colors" / ("red", "blue")[k % 2]
        place.mkdir(parents=True, exist_ok=True)
        Image.fromarray(pixels).save(place / f"{k}.png")
    return tmp_path / "colors"


def test_colors_are_learned_and_predicted_from_files_and_folders(
    folder: Path, tmp_path: Path
) -> None:
    run = train("cnn", out=tmp_path / "run", images=str(folder), **SMALL | {"epochs": 8})
    assert run.result["metrics"]["test"]["error"] == 0
    assert "60 images of 2 classes" in run.remarks[0]
    again = Run.load(tmp_path / "run")
    answers = again.predict(folder / "blue")
    assert len(answers) == 30 and {a["prediction"] for a in answers} == {"blue"}
    (one,) = again.predict(folder / "blue" / "1.png")
    assert one == next(a for a in answers if a["input"] == "1.png")


def test_inputs_are_standardized_by_the_training_images(folder: Path, tmp_path: Path) -> None:
    run = train("cnn", out=tmp_path / "run", images=str(folder), **SMALL | {"epochs": 1})
    x = run.data().train.x.float() / 255
    assert isinstance(run.model, Standardized)
    torch.testing.assert_close(run.model.mean.flatten(), x.mean((0, 2, 3)))
    torch.testing.assert_close(run.model.spread.flatten(), x.std((0, 2, 3), correction=0))


def test_channels_of_one_value_have_a_positive_spread() -> None:
    mean, spread = channel_statistics(torch.full((3, 1, 2, 2), 51, dtype=torch.uint8))
    assert mean.tolist() == pytest.approx([0.2]) and spread.item() > 0


def test_bytes_and_numbers_give_the_same_outputs(folder: Path, tmp_path: Path) -> None:
    run = train("cnn", out=tmp_path / "run", images=str(folder), **SMALL | {"epochs": 1})
    x = run.data().test.x
    assert torch.equal(outputs(run.model, (x,)), outputs(run.model, (x.float() / 255,)))


def test_a_stopped_run_continues_bit_for_bit(folder: Path, tmp_path: Path) -> None:
    whole = train("cnn", out=tmp_path / "whole", images=str(folder), **SMALL)
    entry_and_settings = Run.load(tmp_path / "whole")
    stopped = Run(tmp_path / "stopped", "cnn", entry_and_settings.configuration)
    (tmp_path / "stopped").mkdir()
    (tmp_path / "stopped" / "config.json").write_bytes(
        (tmp_path / "whole" / "config.json").read_bytes()
    )
    steps = stopped.train("cpu", pictures=False)
    while not next(steps).record:
        pass
    steps.close()
    again = Run.load(tmp_path / "stopped")
    list(again.train("cpu", pictures=False))
    for name, tensor in whole.model.state_dict().items():
        assert torch.equal(tensor, again.model.state_dict()[name]), name


def test_an_ensemble_starts_from_bytes_too(folder: Path, tmp_path: Path) -> None:
    run = train("cnn", out=tmp_path / "run", images=str(folder), members=2, **SMALL | {"epochs": 8})
    assert run.result["metrics"]["test"]["error"] == 0


@pytest.mark.parametrize("name", ["resnet20", "resnet18", "vit"])
def test_other_networks_take_the_same_folder(name: str, folder: Path, tmp_path: Path) -> None:
    sizes = {"patch_size": 4, "hidden_size": 8, "num_layers": 1, "num_heads": 2}
    run = train(
        "cnn",
        out=tmp_path / "run",
        images=str(folder),
        model_name=name,
        **SMALL | {"epochs": 1} | (sizes if name == "vit" else {}),
    )
    assert run.predict(folder / "red" / "0.png")[0]["prediction"] in ("red", "blue")
