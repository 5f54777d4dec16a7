"""Checkpoints: one safetensors file whose header carries the JSON state, replaced atomically.

A reader sees the old file or the new one, never half of one, whenever the writer was killed.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save as serialize
from torch import Tensor

from chainrule.errors import InputError


def save(path: Path, tensors: Mapping[str, Tensor], state: Mapping[str, Any] | None = None) -> None:
    """Tensors and state as one file."""
    metadata = {"state": json.dumps(state or {})}  # one key only: their order would be random
    replace(path, serialize(separate(tensors), metadata))


def replace(path: Path, content: bytes) -> None:
    """Write beside the target, flush to the disk, rename over it; a later try reuses the place."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.part")
    try:
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


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
    """Tensors and state of a checkpoint."""
    try:
        with safe_open(path, framework="pt") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            return tensors, json.loads((file.metadata() or {}).get("state", "{}"))
    except FileNotFoundError:
        raise InputError(f"there is no file {path}") from None
    except (SafetensorError, json.JSONDecodeError) as error:
        raise InputError(
            f"{path} is damaged or not a safetensors file ({error}); "
            "restore it from a copy or train again"
        ) from None


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
