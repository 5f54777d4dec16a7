"""Weights that others trained, read into a model whose names and shapes they must fit exactly.

A safetensors file is read, or a mapping of names to tensors taken; nothing is ever unpickled.
Counters of seen batches may be missing: they are older than some published files, and take no part
in what a network computes.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor, nn

from chainrule.errors import InputError

COUNTER = "num_batches_tracked"
NAMED = 4  # entries of each fault that an error names


def load_published(
    model: nn.Module, weights: str | Path | Mapping[str, Tensor], leave_out: Sequence[str] = ()
) -> None:
    """Give the model these weights: all of them, or an error that says what does not fit.

    The parts named in `leave_out` are not read and keep what they have: ("fc",) for another head.
    """
    state = read(weights) if isinstance(weights, str | Path) else dict(weights)
    own = model.state_dict()
    unknown = [part for part in leave_out if not any(belongs(name, part) for name in own)]
    if unknown:
        raise InputError(f"{type(model).__name__} has no part {unknown[0]!r} to leave out")
    wanted, given = (
        {name: t for name, t in each.items() if not any(belongs(name, p) for p in leave_out)}
        for each in (own, state)
    )
    faults = misfits(wanted, given)
    if faults:
        raise InputError(f"the weights do not fit {type(model).__name__}: {'; '.join(faults)}")
    model.load_state_dict({**own, **given})


def misfits(wanted: Mapping[str, Tensor], given: Mapping[str, Tensor]) -> list[str]:
    """What is missing, what is too much, and what has another shape."""
    missing = [name for name in wanted if name not in given and not name.endswith(COUNTER)]
    extra = [name for name in given if name not in wanted]
    shapes = [
        f"{name} {tuple(given[name].shape)} instead of {tuple(wanted[name].shape)}"
        for name in wanted
        if name in given and given[name].shape != wanted[name].shape
    ]
    kinds = {"missing": missing, "extra": extra, "of another shape": shapes}
    return [f"{len(found)} {kind} ({listed(found)})" for kind, found in kinds.items() if found]


def listed(entries: Sequence[str]) -> str:
    """The first few, and a sign for the rest."""
    return ", ".join(entries[:NAMED]) + (", …" if len(entries) > NAMED else "")


def belongs(name: str, part: str) -> bool:
    """Whether an entry of the state lies in that part of the model."""
    return name == part or name.startswith(f"{part}.")


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
