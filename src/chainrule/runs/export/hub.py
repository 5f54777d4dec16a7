"""A folder as transformers' `save_pretrained` writes it: weights, config.json, tokenizer."""

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import nn

from chainrule.data.text.byte_pairs import BytePairs
from chainrule.data.text.vocabulary import Vocabulary
from chainrule.data.text.wordpiece import WordPiece
from chainrule.nn.standardized import Standardized
from chainrule.pretrained.loading import family_of
from chainrule.pretrained.publishing import publish
from chainrule.runs.export.interface import Interface
from chainrule.training import outputs
from chainrule.training.checkpoint import separate
from chainrule.training.files import replace, writing

WEIGHTS = "model.safetensors"


def write(given: Interface, folder: Path) -> float:
    """Write the folder; the largest difference after loading the weights by their names."""
    model, classes = unwrapped(given.run.model), given.run.summary.classes
    state, config = publish(model)
    if classes:
        config |= {
            "id2label": {str(k): name for k, name in enumerate(classes)},
            "label2id": {name: k for k, name in enumerate(classes)},
        }
    with writing(folder / WEIGHTS):
        save_file(separate(state), folder / WEIGHTS, {"format": "pt"})
    write_json(folder / "config.json", config)
    write_preprocessing(given, folder)
    return difference(given, folder / WEIGHTS)


def unwrapped(model: nn.Module) -> nn.Module:
    """The network inside a standardization, whose numbers go into preprocessor_config.json."""
    return model.inner if isinstance(model, Standardized) else model


def difference(given: Interface, path: Path) -> float:
    """The largest difference of the network with the weights of the file."""
    copy = deepcopy(given.run.model)
    inner = unwrapped(copy)
    with torch.no_grad():
        for tensor in inner.parameters():
            tensor.zero_()
    inner.load_state_dict(family_of(inner).convert(inner, load_file(path), True))
    return given.difference(outputs(given.run.recipe.network_for(copy), (given.x,)).float())


def write_preprocessing(given: Interface, folder: Path) -> None:
    """How a text or an image becomes an input, in the files that transformers reads."""
    encoder, model = given.run.summary.encoder, given.run.model
    if isinstance(encoder, WordPiece):
        replace(folder / "vocab.txt", ("\n".join(encoder.tokens) + "\n").encode())
        settings = {"tokenizer_class": "BertTokenizer", "do_lower_case": encoder.lowercase}
        write_json(
            folder / "tokenizer_config.json", settings | {"model_max_length": encoder.max_length}
        )
    elif isinstance(encoder, Vocabulary):
        write_json(folder / "vocab.json", encoder.token_to_id)
        if isinstance(encoder, BytePairs):
            merges = ["#version: 0.2", *encoder.merges]
            replace(folder / "merges.txt", ("\n".join(merges) + "\n").encode())
            write_json(folder / "tokenizer_config.json", {"tokenizer_class": "GPT2Tokenizer"})
    elif isinstance(model, Standardized):
        height, width = given.x.shape[-2:]
        settings = {
            "image_processor_type": "ViTImageProcessor",
            "do_resize": True,
            "size": {"height": height, "width": width},
            "do_rescale": True,
            "do_normalize": True,
            "image_mean": model.mean.flatten().tolist(),
            "image_std": model.spread.flatten().tolist(),
        }
        write_json(folder / "preprocessor_config.json", settings)


def write_json(path: Path, content: Any) -> None:
    replace(path, (json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode())
