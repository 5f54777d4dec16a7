"""Published weights under our names: prefixes renamed, parts joined, copies left out.

A name that no rule knows stays as it is, so that `load_published` reports it as extra.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from torch import Tensor

from chainrule.errors import InputError
from chainrule.pretrained.loading import read

Rules = Sequence[tuple[str, str]]
"""(pattern, replacement) pairs for `re.sub`, each for the beginning of a name or all of it."""


def opened(weights: str | Path | Mapping[str, Tensor], rules: Rules) -> dict[str, Tensor]:
    """The tensors of a file or mapping, each name rewritten by the rules, one after another."""
    state = read(weights) if isinstance(weights, str | Path) else dict(weights)
    found: dict[str, Tensor] = {}
    for name, tensor in state.items():
        ours = name
        for pattern, replacement in rules:
            ours = re.sub(f"^{pattern}", replacement, ours)
        if ours in found:
            raise InputError(f"the weights hold {name} twice, under another name as well")
        found[ours] = tensor
    return found


def without(state: Mapping[str, Tensor], pattern: str) -> dict[str, Tensor]:
    """All entries but those whose whole name the pattern matches."""
    return {name: t for name, t in state.items() if not re.fullmatch(pattern, name)}


def stacked(state: Mapping[str, Tensor], parts: Sequence[str], together: str) -> dict[str, Tensor]:
    """Maps that we compute in one product: x.query, x.key, x.value → x.projection, row on row."""
    found = dict(state)
    for name in state:
        stem, dot, kind = name.rpartition(".")
        if not stem.endswith(f".{parts[0]}"):
            continue
        place = stem.removesuffix(parts[0])
        names = [f"{place}{part}{dot}{kind}" for part in parts]
        if all(each in state for each in names):
            found[f"{place}{together}{dot}{kind}"] = torch.cat([found.pop(each) for each in names])
    return found


def untied(state: Mapping[str, Tensor], copy: str, original: str) -> dict[str, Tensor]:
    """Without a copy of a tensor that we keep once; it must be one, or all that there is."""
    found = dict(state)
    other = found.pop(copy, None)
    if other is not None and not torch.equal(other, found.setdefault(original, other)):
        raise InputError(
            f"{copy} differs from {original}; this model shares the two, so only weights that were "
            "trained with shared ones fit"
        )
    return found
