"""Checkpoints: one safetensors file whose header carries the JSON state and a checksum.

A reader sees the old file or the new one, never half of one, whenever the writer was killed.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load as deserialize
from safetensors.torch import save as serialize
from torch import Tensor, nn

from chainrule.errors import InputError
from chainrule.training.files import read, replace
from chainrule.training.schema import parsed

CHECKSUM = "checksum"  # its key in the state


def save(path: Path, tensors: Mapping[str, Tensor], state: Mapping[str, Any] | None = None) -> None:
    """Tensors and state as one file."""
    plain = separate(tensors)
    text = json.dumps(state or {})
    signed = {**json.loads(text), CHECKSUM: checksum(plain, text)}
    metadata = {"state": json.dumps(signed)}  # one key only: their order would be random
    replace(path, serialize(plain, metadata))


def checksum(tensors: Mapping[str, Tensor], state: str) -> str:
    """SHA-256 of the state and of all tensors with their names, types and shapes."""
    found = hashlib.sha256(state.encode())
    for name, tensor in sorted(tensors.items()):
        found.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        found.update(as_bytes(tensor))
    return found.hexdigest()


def as_bytes(tensor: Tensor) -> memoryview:
    """The values of a tensor in memory."""
    return tensor.detach().cpu().contiguous().flatten().view(torch.uint8).numpy().data


def separate(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The tensors on the CPU, none sharing memory with another (tied weights become two copies)."""
    plain: dict[str, Tensor] = {}
    taken: set[int] = set()
    for name, tensor in tensors.items():
        t = tensor.detach().cpu().contiguous()
        memory = t.untyped_storage().data_ptr()
        plain[name] = t.clone() if memory in taken else t
        taken.add(memory)
    return plain


def load(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Tensors and state of a checkpoint, verified where the file has a checksum."""
    content = read(path)
    try:
        tensors = deserialize(content)
        header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
        text = (header.get("__metadata__") or {}).get("state", "{}")  # null is no metadata
    except (SafetensorError, ArithmeticError, LookupError, RuntimeError, ValueError) as error:
        raise damaged(path, f"is damaged or not a safetensors file ({error})") from None
    state = parsed(text.encode(), path, strict=False)
    if not isinstance(state, dict):
        raise damaged(path, "is damaged: its header holds no state")
    written = state.pop(CHECKSUM, None)
    if written is not None and written != checksum(tensors, json.dumps(state)):
        raise damaged(path, "is damaged: its content does not fit its checksum")
    return tensors, state


def damaged(path: Path, what: str) -> InputError:
    return InputError(f"{path} {what}; restore it from a copy or train again")


def check_finite(model: nn.Module, path: Path) -> None:
    """Refuse weights that are not finite, by name."""
    if name := not_finite(model):
        raise damaged(path, f"cannot be used: its weights {name} are not finite")


def not_finite(model: nn.Module) -> str:
    """The first parameter that is not finite or buffer with a NaN; a mask may hold infinities."""
    for name, tensor in model.named_parameters():
        if not tensor.isfinite().all():
            return name
    return next((name for name, tensor in model.named_buffers() if tensor.isnan().any()), "")


def not_finite_local(model: nn.Module) -> str:
    """The same of the part that this process holds of a sharded model."""
    own = ((name, getattr(p, "_local_tensor", p)) for name, p in model.named_parameters())
    return next((name for name, t in own if not t.isfinite().all()), "")


def part(tensors: Mapping[str, Tensor], prefix: str) -> dict[str, Tensor]:
    """The tensors whose names start with the prefix, without it."""
    return {name.removeprefix(prefix): t for name, t in tensors.items() if name.startswith(prefix)}


def named(tensors: Mapping[str, Tensor], prefix: str) -> dict[str, Tensor]:
    """The tensors with the prefix before their names."""
    return {prefix + name: t for name, t in tensors.items()}


def optimizer_tensors(optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """The optimizer's memory as flat names: `0.exp_avg`."""
    return {
        f"{index}.{key}": value
        for index, slots in optimizer.state_dict()["state"].items()
        for key, value in slots.items()
        if isinstance(value, Tensor)
    }


def restore_optimizer(optimizer: torch.optim.Optimizer, tensors: Mapping[str, Tensor]) -> None:
    """Inverse of `optimizer_tensors`, into an optimizer built from the same settings."""
    state: dict[int, dict[str, Tensor]] = {}
    for name, value in tensors.items():
        index, key = name.split(".", 1)
        state.setdefault(int(index), {})[key] = value
    optimizer.load_state_dict({**optimizer.state_dict(), "state": state})
    # The file keeps no memory layout; a fused kernel needs that of the parameter.
    for parameter, slots in optimizer.state.items():
        for key, value in slots.items():
            if isinstance(value, Tensor) and value.shape == parameter.shape:
                slots[key] = torch.empty_like(parameter, dtype=value.dtype).copy_(value)
