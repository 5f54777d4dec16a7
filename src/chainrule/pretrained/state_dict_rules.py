"""Rules that turn a published state dict into one of ours: rename, drop, stack, untie.

A name that no rule matches stays as it is, so that loading reports it as unexpected.
"""

import re
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from chainrule.errors import InputError

State = dict[str, Tensor]
Rules = Sequence[tuple[str, str]]
"""(pattern, replacement) pairs for `re.sub`, matched at the beginning of a name."""


def rename(state: Mapping[str, Tensor], rules: Rules) -> State:
    """Each name rewritten by the rules, one after another."""
    renamed: State = {}
    for published, tensor in state.items():
        name = published
        for pattern, replacement in rules:
            name = re.sub(f"^{pattern}", replacement, name)
        if name in renamed:
            raise InputError(f"the weights hold {published} twice, once under another name")
        renamed[name] = tensor
    return renamed


def drop(state: Mapping[str, Tensor], pattern: str) -> State:
    """All entries but those whose whole name matches."""
    return {name: t for name, t in state.items() if not re.fullmatch(pattern, name)}


def stack(state: Mapping[str, Tensor], parts: Sequence[str], stacked: str) -> State:
    """Maps that we compute in one product: x.query, x.key, x.value → x.projection, row on row."""
    result = dict(state)
    for name in state:
        stem, dot, kind = name.rpartition(".")
        if not stem.endswith(f".{parts[0]}"):
            continue
        prefix = stem.removesuffix(parts[0])
        names = [f"{prefix}{part}{dot}{kind}" for part in parts]
        if all(each in state for each in names):
            rows = [result.pop(each) for each in names]
            if len({(row.dtype, row.shape[1:]) for row in rows}) > 1 or not rows[0].ndim:
                raise InputError(f"expected {', '.join(names)} of one type and width")
            result[f"{prefix}{stacked}{dot}{kind}"] = torch.cat(rows)
    return result


def untie(state: Mapping[str, Tensor], copy: str, original: str) -> State:
    """The state without `copy`, which must equal `original`, or replaces it where that is missing.

    For tensors that the model shares and we store once.
    """
    result = dict(state)
    other = result.pop(copy, None)
    if other is not None and not same(other, result.setdefault(original, other)):
        raise InputError(
            f"{copy} differs from {original}; this model shares the two, so it takes only weights "
            "that were trained with shared ones"
        )
    return result


def same(a: Tensor, b: Tensor) -> bool:
    return a.dtype == b.dtype and torch.equal(a, b)
