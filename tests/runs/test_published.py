"""Runs that start from published weights: torchvision's files, and folders of the hub."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers
from PIL import Image
from safetensors.torch import save_file
from torch import nn

from chainrule.api import train
from chainrule.data import cache
from chainrule.errors import InputError
from chainrule.models.convolution import ResNet
from chainrule.runs.published import IMAGENET, read_weights
from chainrule.runs.run import Run

VIT = {"patch_size": 4, "hidden_size": 8, "num_layers": 2, "num_heads": 2}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """40 images of two classes, and a cache of their own."""
    monkeypatch.setattr(cache, "user_cache", lambda: tmp_path / "cache")
    draw = np.random.default_rng(0)
    for k in range(40):
        place = tmp_path / "images" / "ab"[k % 2]
        place.mkdir(parents=True, exist_ok=True)
        pixels = draw.integers(0, 256, (8, 8, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(place / f"{k}.png")
    return tmp_path / "images"


def frozen_run(folder: Path, out: Path, name: str, source: Path, **more: object) -> Run:
    """One epoch in which only the head learns, so that all else stays as it was taken over."""
    return train(
        "cnn",
        out=out,
        images=str(folder),
        model_name=name,
        from_run=str(source),
        freeze="inner.[!fh]*",
        epochs=1,
        batch_size=8,
        pictures=False,
        **more,
    )


def hub_vit(labels: dict[int, str]) -> transformers.ViTForImageClassification:
    torch.manual_seed(1)
    config = transformers.ViTConfig(
        image_size=8,
        patch_size=4,
        hidden_size=8,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        id2label=labels,
        label2id={name: k for k, name in labels.items()},
    )
    return transformers.ViTForImageClassification(config)


def features(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    """What the head of the transformer sees, by transformers."""
    with torch.no_grad():
        return model.eval().vit(x).last_hidden_state[:, 0]


def test_a_resnet_under_torchvisions_names_is_taken_but_for_its_head(
    folder: Path, tmp_path: Path
) -> None:
    torch.manual_seed(1)
    published = ResNet.imagenet(18, 7)
    save_file(published.state_dict(), tmp_path / "resnet18.safetensors")
    run = frozen_run(folder, tmp_path / "run", "resnet18", tmp_path / "resnet18.safetensors")
    taken = run.model.inner.state_dict()
    for name, tensor in published.state_dict().items():
        if not name.startswith("fc."):
            assert torch.equal(taken[name], tensor), name
    assert taken["fc.weight"].shape == (2, 512)
    assert run.model.mean.flatten().tolist() == pytest.approx([0.485, 0.456, 0.406])
    assert any("tensors taken from resnet18.safetensors" in remark for remark in run.remarks)
    assert any("new head: inner.fc.weight" in remark for remark in run.remarks)


@pytest.mark.parametrize("shard", ["10GB", "3KB"])
def test_a_vit_of_the_hub_computes_the_same_in_one_file_or_in_shards(
    shard: str, folder: Path, tmp_path: Path
) -> None:
    published = hub_vit({0: "x", 1: "y", 2: "z"})
    hub = tmp_path / "hub"
    published.save_pretrained(hub, max_shard_size=shard)
    settings = {"image_mean": [0.5, 0.4, 0.3], "image_std": [0.2, 0.2, 0.1]}
    (hub / "preprocessor_config.json").write_text(json.dumps(settings))
    assert (hub / "model.safetensors.index.json").is_file() == (shard == "3KB")
    run = frozen_run(folder, tmp_path / "run", "vit", hub, **VIT)
    x = run.data().test.x.float() / 255
    mean, std = (torch.tensor(numbers).reshape(-1, 1, 1) for numbers in settings.values())
    seen: list[torch.Tensor] = []
    run.model.inner.head.register_forward_pre_hook(lambda _, given: seen.append(given[0]))
    with torch.no_grad():
        run.model(x)
    torch.testing.assert_close(seen[0], features(published, (x - mean) / std), rtol=1e-4, atol=1e-5)


def test_the_head_is_taken_where_the_classes_are_the_same(folder: Path, tmp_path: Path) -> None:
    hub_vit({0: "a", 1: "b"}).save_pretrained(tmp_path / "hub")
    run = frozen_run(folder, tmp_path / "run", "vit", tmp_path / "hub", **VIT)
    assert not any("new head" in remark for remark in run.remarks)


def test_a_vit_of_the_hub_brings_its_sizes_and_is_loaded_whole(
    folder: Path, tmp_path: Path
) -> None:
    hub_vit({0: "x", 1: "y", 2: "z"}).save_pretrained(tmp_path / "hub")
    run = train(
        "cnn",
        out=tmp_path / "run",
        images=str(folder),
        from_run=str(tmp_path / "hub"),
        epochs=1,
        batch_size=8,
        pictures=False,
    )
    assert run.recipe.model_name == "vit"
    assert {name: getattr(run.recipe, name) for name in VIT} == VIT
    (taken,) = (remark for remark in run.remarks if "taken" in remark)
    assert taken.endswith("not in the source, so new: mean, spread")  # set by the images
    assert Run.load(run.folder).recipe.hidden_size == 8


@pytest.mark.parametrize(
    ("changed", "flags", "words"),
    [
        ({"intermediate_size": 16}, {}, "expected intermediate_size 32, got 16"),
        ({}, {"hidden_size": 64}, "expected `hidden_size` 8, got 64; leave it out"),
        ({}, {"model_name": "resnet18"}, "expected `model_name` vit, got resnet18"),
        ({"model_type": "swin"}, {}, "expected model_type 'vit' or 'resnet', got 'swin'"),
    ],
)
def test_a_vit_that_ours_is_not_is_refused(
    changed: dict[str, object],
    flags: dict[str, object],
    words: str,
    folder: Path,
    tmp_path: Path,
) -> None:
    hub = tmp_path / "hub"
    hub_vit({0: "x"}).save_pretrained(hub)
    config = json.loads((hub / "config.json").read_text())
    (hub / "config.json").write_text(json.dumps(config | changed))
    with pytest.raises(InputError, match=words):
        train("cnn", out=tmp_path / "run", images=str(folder), from_run=str(hub), **flags)


def test_a_resnet_of_the_hub_computes_the_same(folder: Path, tmp_path: Path) -> None:
    torch.manual_seed(1)
    published = transformers.ResNetForImageClassification(
        transformers.ResNetConfig(
            layer_type="basic", depths=[2, 2, 2, 2], hidden_sizes=[64, 128, 256, 512]
        )
    ).eval()
    published.save_pretrained(tmp_path / "hub")
    run = frozen_run(folder, tmp_path / "run", "resnet18", tmp_path / "hub")
    x = run.data().test.x.float() / 255
    mean, std = (torch.tensor(numbers).reshape(-1, 1, 1) for numbers in IMAGENET)
    seen: list[torch.Tensor] = []
    run.model.inner.fc.register_forward_pre_hook(lambda _, given: seen.append(given[0]))
    with torch.no_grad():
        run.model(x)
        wanted = published.resnet((x - mean) / std).pooler_output.flatten(1)
    torch.testing.assert_close(seen[0], wanted, rtol=1e-3, atol=1e-4)


def test_a_resnet_of_other_depths_is_refused(folder: Path, tmp_path: Path) -> None:
    config = transformers.ResNetConfig(layer_type="basic", depths=[1, 1], hidden_sizes=[8, 16])
    transformers.ResNetForImageClassification(config).save_pretrained(tmp_path / "hub")
    with pytest.raises(InputError, match="expected the depths of ResNet-18, 34 or 50, got"):
        train("cnn", images=str(folder), from_run=str(tmp_path / "hub"), out=tmp_path / "run")


def test_a_network_that_shares_its_standardization_alone_is_refused(
    folder: Path, tmp_path: Path
) -> None:
    first = train(
        "cnn", out=tmp_path / "cnn", images=str(folder), epochs=1, filters=(4,), pictures=False
    )
    with pytest.raises(InputError, match="no weight matrix of cnn fits this network"):
        train(
            "cnn",
            out=tmp_path / "resnet",
            images=str(folder),
            model_name="resnet20",
            from_run=str(first.folder),
        )


def test_a_damaged_index_is_refused(tmp_path: Path) -> None:
    index = tmp_path / "model.safetensors.index.json"
    for content, words in (
        ("{", "is not JSON"),
        ("[]", "expected an object"),
        ("{}", "weight_map"),
        ('{"weight_map": {"a": "../other.safetensors"}}', "weight_map"),
        ('{"weight_map": {"a": "absent.safetensors"}}', "absent.safetensors"),
    ):
        index.write_text(content)
        with pytest.raises(InputError, match=words):
            read_weights(tmp_path)
