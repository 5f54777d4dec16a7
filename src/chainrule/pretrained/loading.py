"""Load published weights into a model; names and shapes must fit exactly.

A safetensors file or a mapping of names to tensors is read; nothing is ever unpickled. Batch
counters may be missing: some published files are older than them, and no output depends on them.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor, nn

from chainrule.errors import InputError
from chainrule.models.attention import (
    BERT,
    GPT,
    BertClassifier,
    BertPretraining,
    BertQuestionAnswering,
    BertTagger,
    ViT,
)
from chainrule.models.convolution import ResNet
from chainrule.pretrained import bert, gpt2, resnet, vit
from chainrule.pretrained.state_dict_rules import State, drop

COUNTER = "num_batches_tracked"
FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
LISTED = 4  # names of each kind that an error lists


class Family(NamedTuple):
    """How published weights become a model's own.

    Args:
        convert: (model, published state, whether the head is loaded) → state under our names.
        head: The part of the model that is its task head, if it has one.
        check: Refuses a model for which the published weights were not made.
    """

    convert: Callable[[Any, State, bool], State]
    head: str | None = None
    check: Callable[[Any], None] = lambda model: None


FAMILIES: dict[type[nn.Module], Family] = {
    GPT: Family(gpt2.convert, check=gpt2.check),
    BERT: Family(bert.convert_encoder),
    BertPretraining: Family(bert.convert_pretraining),
    BertClassifier: Family(bert.convert_classifier, "output"),
    BertTagger: Family(bert.convert_tagger, "output"),
    BertQuestionAnswering: Family(bert.convert_question_answering, "output"),
    ViT: Family(vit.convert, "head"),
    ResNet: Family(resnet.convert, "fc"),
}


def load(model: nn.Module, weights: str | Path | Mapping[str, Tensor], head: bool = True) -> None:
    """Load published weights into a GPT-2, a BERT with or without a task head, a ViT or a ResNet.

    Every weight must fit, or an error lists what does not and the model stays as it was.

    Args:
        model: The model, built with the sizes of the published one.
        weights: A safetensors file, or a state dict, under its published names.
        head: Whether the task head is loaded as well. Without it the head keeps its present
            weights: for another number of classes, or to fine-tune BERT on a new task.

    >>> from chainrule.models.attention.bert import example
    >>> from chainrule.pretrained.publishing import publish
    >>> ours, copy = example()[0], example()[0]
    >>> load(copy, publish(ours).state)
    """
    family = family_of(model)
    family.check(model)
    if not head and family.head is None:
        raise InputError(f"{type(model).__name__} has no task head; leave out head=False")
    published = read(weights) if isinstance(weights, str | Path) else state_dict(weights)
    own, given = model.state_dict(), family.convert(model, published, head)
    if not head:
        own, given = (drop(state, rf"{family.head}\..*") for state in (own, given))
    faults = mismatches(own, given)
    if faults:
        hint = "; head=False keeps the model's own head" if family.head and head else ""
        raise InputError(
            f"the weights do not fit {type(model).__name__}: {'; '.join(faults)}{hint}"
        )
    model.load_state_dict({**model.state_dict(), **given})


def family_of(model: nn.Module) -> Family:
    """How published weights become this model's."""
    found = next((f for kind, f in FAMILIES.items() if isinstance(model, kind)), None)
    if found is None:
        known = ", ".join(kind.__name__ for kind in FAMILIES)
        raise InputError(
            f"no published weights are known for {type(model).__name__}; expected one of {known}"
        )
    return found


def mismatches(wanted: Mapping[str, Tensor], given: Mapping[str, Tensor]) -> list[str]:
    """The missing names, the unexpected ones, and those of another shape or without sense."""
    pairs = {name: (given[name], wanted[name]) for name in wanted if name in given}
    missing = [name for name in wanted if name not in given and not name.endswith(COUNTER)]
    unexpected = [name for name in given if name not in wanted]
    shapes = [
        f"{name} {tuple(new.shape)} instead of {tuple(own.shape)}"
        for name, (new, own) in pairs.items()
        if new.shape != own.shape
    ]
    types = [name for name, (new, own) in pairs.items() if not same_kind(new.dtype, own.dtype)]
    invalid = [
        name for name, (new, _) in pairs.items() if name not in types and not new.isfinite().all()
    ]
    kinds = {
        "missing": missing,
        "unexpected": unexpected,
        "of another shape": shapes,
        "of another type": types,
        "with values that are not finite": invalid,
    }
    return [f"{len(names)} {kind} ({listed(names)})" for kind, names in kinds.items() if names]


def same_kind(published: torch.dtype, own: torch.dtype) -> bool:
    """Whether weights of one type may be loaded into weights of the other."""
    return published in FLOATS if own in FLOATS else published == own


def listed(names: Sequence[str]) -> str:
    """The first few names, and … for the rest."""
    return ", ".join(names[:LISTED]) + (", …" if len(names) > LISTED else "")


def state_dict(weights: Any) -> dict[str, Tensor]:
    """The weights, if they are names and tensors."""
    if not isinstance(weights, Mapping):
        raise InputError(
            f"`weights` must be a safetensors file or a state dict, got {type(weights).__name__}"
        )
    for name, tensor in weights.items():
        if not isinstance(name, str) or not isinstance(tensor, Tensor):
            raise InputError(
                f"`weights` must hold tensors by name, got {type(tensor).__name__} at {name!r}"
            )
    return dict(weights)


def read(path: str | Path) -> dict[str, Tensor]:
    """The tensors of a safetensors file."""
    try:
        return load_file(path)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from None
    except SafetensorError as error:
        raise InputError(
            f"{path} is not a safetensors file ({error}); save the published state dict with "
            "safetensors.torch.save_file first"
        ) from None
