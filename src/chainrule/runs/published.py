"""Published weights as the start of a run: files and folders under their public names.

    FILE.safetensors                    torchvision's ResNet, or a model of the Hugging Face hub
    FOLDER with config.json             as `save_pretrained` writes it, in one file or in shards

The part of the network that has published weights is found by its type; its tensors get our names.
Images are standardized as the published network was trained: by preprocessor_config.json, or by
ImageNet's statistics for a ResNet.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from chainrule.data.text.hub_tokenizers import read_object
from chainrule.errors import InputError
from chainrule.models.attention import (
    BERT,
    GPT,
    BertClassifier,
    BertPretraining,
    BertQuestionAnswering,
    BertTagger,
)
from chainrule.models.convolution.resnet import ResNet
from chainrule.nn.standardized import Standardized
from chainrule.pretrained.loading import FAMILIES, family_of, read

WEIGHTS, INDEX = "model.safetensors", "model.safetensors.index.json"
CONFIG, PREPROCESSING = "config.json", "preprocessor_config.json"
WITH_POSITIONS = (BERT, GPT, BertClassifier, BertPretraining, BertQuestionAnswering, BertTagger)
"""Networks whose inputs may be shorter than the published ones."""
IMAGENET = ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))


def read_weights(start: Path) -> dict[str, Tensor]:
    """The tensors of a file, or of a folder with one file or with shards and their index."""
    if not start.is_dir():
        return read(start)
    if not (start / INDEX).is_file():
        return read(start / WEIGHTS)
    places = read_object(start / INDEX).get("weight_map")
    names = set(places.values()) if isinstance(places, dict) else set()
    if not names or not all(isinstance(n, str) and n == Path(n).name for n in names):
        raise InputError(f"{start / INDEX} is damaged: expected a weight_map of names and files")
    return {name: t for shard in sorted(names) for name, t in read(start / shard).items()}


def hub_config(start: Path) -> dict[str, Any]:
    """The config.json of a folder of the hub; empty for a run, a file and anything else."""
    found = read_object(start / CONFIG) if start.is_dir() else {}
    return found if "model_type" in found else {}


def class_names(start: Path) -> tuple[str, ...]:
    """The classes of the published head, by config.json."""
    named = read_object(start / CONFIG).get("id2label") if start.is_dir() else None
    if not isinstance(named, dict) or not all(str(k) in named for k in range(len(named))):
        return ()
    return tuple(str(named[str(k)]) for k in range(len(named)))


def under_our_names(
    model: nn.Module, weights: Mapping[str, Tensor], start: Path, head: bool
) -> dict[str, Tensor]:
    """The weights as the model names them.

    Args:
        model: has a part of a published kind, or several, as an ensemble.
        weights: under their published names.
        start: where they come from.
        head: whether the task head is taken over.
    """
    found: dict[str, Tensor] = {}
    for prefix, part in published_parts(model):
        family = family_of(part)
        family.check(part)
        given = family.convert(part, dict(weights), head or family.head is None)
        given |= first_positions(part, given)
        found |= {f"{prefix}{name}": tensor for name, tensor in given.items()}
    return found | standardization(model, start) if found else dict(weights)


def first_positions(part: nn.Module, given: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Of learned positions as many as the network has, where there are more."""
    own = part.state_dict()
    return {
        name: tensor[: len(own[name])]
        for name, tensor in given.items()
        if name.endswith("positions.weight")
        and name in own
        and tensor.shape[1:] == own[name].shape[1:]
        and isinstance(part, WITH_POSITIONS)
    }


def published_parts(model: nn.Module) -> Iterator[tuple[str, nn.Module]]:
    """(prefix of its names, part) of every outermost part whose kind has published weights."""
    if isinstance(model, tuple(FAMILIES)):
        yield "", model
        return
    for name, child in model.named_children():
        yield from ((f"{name}.{prefix}", part) for prefix, part in published_parts(child))


def standardization(model: nn.Module, start: Path) -> dict[str, Tensor]:
    """Mean and standard deviation by which the published network saw its images, where known."""
    said = read_object(start / PREPROCESSING) if start.is_dir() else {}
    found: dict[str, Tensor] = {}
    for name, part in model.named_modules():
        if not isinstance(part, Standardized):
            continue
        known = IMAGENET if isinstance(part.inner, ResNet) else None
        values = (said["image_mean"], said["image_std"]) if "image_mean" in said else known
        if values is None:
            continue
        prefix = f"{name}." if name else ""
        for key, numbers in zip(("mean", "spread"), values, strict=True):
            found[f"{prefix}{key}"] = torch.tensor(numbers).reshape(-1, 1, 1)
    return found
