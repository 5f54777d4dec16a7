"""torch.export: the forward pass as a graph that runs without the Python code of the model."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import nn

from chainrule.errors import InputError
from chainrule.runs.export.description import describe
from chainrule.runs.export.interface import Interface
from chainrule.training.files import writing

FILE = "model.pt2"


def write(given: Interface, folder: Path) -> float:
    """Write model.pt2 and its description; the largest difference after reading it back."""
    with exporting(given.run.name), torch.no_grad():
        traced = torch.export.export(
            given.network, (given.x,), dynamic_shapes=dynamic(given), strict=False
        )
    with writing(folder / FILE):
        torch.export.save(traced, folder / FILE)
    describe(given, folder)
    loaded: nn.Module = torch.export.load(folder / FILE).module()
    with torch.no_grad():
        halves = (slice(0, 1), slice(0, None))  # a batch of one, and all rows
        return max(given.difference(loaded(given.x[rows]), rows) for rows in halves)


def dynamic(given: Interface) -> tuple[dict[int, Any]]:
    """Any number of rows; of texts, also any number of tokens that the network takes."""
    free: dict[int, Any] = {0: torch.export.Dim.DYNAMIC}
    if not given.x.is_floating_point() and given.x.ndim == 2:
        free[1] = torch.export.Dim.AUTO
    return (free,)


@contextmanager
def exporting(name: str) -> Iterator[None]:
    """Turn what the exporter raises into one sentence."""
    with warnings.catch_warnings(action="ignore"):  # of the exporter, about itself
        try:
            yield
        except InputError:
            raise
        except Exception as error:  # it raises whatever its passes meet
            said = str(error).strip().splitlines()[0] if str(error).strip() else ""
            raise InputError(
                f"{name} cannot be exported as one program: {type(error).__name__} {said}; "
                "its weights can: `format` state-dict"
            ) from error
