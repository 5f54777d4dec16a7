"""A checkpoint of 25 million weights and Adam's two moments: written safely, and read again."""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor

from benchmarks.suite.contract import Contender, Quality, Race, Ready, Work


def tensors(weights: int) -> dict[str, Tensor]:
    torch.manual_seed(0)
    return {name: torch.randn(weights) for name in ("weights", "mean", "square")}


def place() -> Path:
    return Path(tempfile.mkdtemp()) / "checkpoint"


def ready(
    kind: str, weights: int, save: Callable[[], object], load: Callable[[], dict[str, Tensor]]
) -> Ready:
    """Writing or reading; what is read again must be what was written."""
    save()
    unit = save if kind == "write" else load

    def quality(_: int) -> float:
        """The largest difference of any number that was read from the one written."""
        found, written = load(), tensors(weights)
        return max(float((found[name] - written[name]).abs().max()) for name in written)

    return Ready(lambda: unit() is NotImplemented, quality)


def chainrule(kind: str, weights: int) -> Ready:
    """One safetensors file with a checksum, flushed to the disk and renamed."""
    from chainrule.training import checkpoint

    path, held = place(), tensors(weights)
    return ready(
        kind, weights, lambda: checkpoint.save(path, held), lambda: checkpoint.load(path)[0]
    )


def pytorch(kind: str, weights: int) -> Ready:
    """torch.save, flushed to the disk and renamed; torch.load."""
    path, held = place(), tensors(weights)

    def save() -> None:
        part = path.with_suffix(".part")
        with part.open("wb") as file:
            torch.save(held, file)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)

    return ready(kind, weights, save, lambda: torch.load(path))


def safetensors(kind: str, weights: int) -> Ready:
    """The plain library: no checksum, not flushed."""
    from safetensors.torch import load_file, save_file

    path, held = place(), tensors(weights)
    return ready(kind, weights, lambda: save_file(held, path), lambda: load_file(path))


def work(kind: str, weights: int) -> Work:
    return Work(bytes=2 * 3 * 4.0 * weights, items=12e-6 * weights, of="MB")


ROW = Race(
    unit="a file of 300 MB",
    contenders={
        "chainrule": Contender(chainrule),
        "torch.save and torch.load": Contender(pytorch),
        "safetensors, no checksum": Contender(safetensors),
    },
    cases={kind: {"kind": kind, "weights": 25_000_000} for kind in ("write", "read")},
    tiny={"kind": "write", "weights": 100},
    quality=Quality("largest error of what was read", 0.0, absolute=True),
    work=work,
)
