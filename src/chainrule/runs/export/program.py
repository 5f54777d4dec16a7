"""torch.export: the forward pass as a graph that runs without the Python code of the model."""

import logging
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from io import StringIO
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
    with writing(folder / FILE), warnings.catch_warnings(action="ignore"):  # about its own parts
        torch.export.save(traced, folder / FILE)
        loaded: nn.Module = torch.export.load(folder / FILE).module()
    describe(given, folder)
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
    """Turn what the exporter raises into one sentence, and keep what it prints to itself."""
    with (
        warnings.catch_warnings(action="ignore"),  # of the exporter, about itself
        redirect_stdout(StringIO()),
        redirect_stderr(StringIO()),
        no_log(),
    ):
        try:
            yield
        except Exception as error:  # it raises whatever its passes meet
            raise InputError(
                f"{name} cannot be exported as one program: {reason(error)}; "
                "its weights can: `format` state-dict"
            ) from error


@contextmanager
def no_log() -> Iterator[None]:
    """No warnings of loggers, whose handlers have streams of their own."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(before)


def reason(error: BaseException) -> str:
    """The first cause of an error, in one line."""
    said = str(error)
    while error.__cause__:
        error = error.__cause__
        said += str(error)
    if "data-dependent" in said:
        return "its steps depend on the values of its inputs, such as the lengths of sequences"
    if "complex" in said:
        return "it computes with complex numbers, which ONNX lacks and `format` torch-export has"
    lines = re.sub(r"\x1b\[\d*m", "", str(error)).strip().splitlines()
    return f"{type(error).__name__} {lines[0] if lines else ''}".strip()
