"""Predictions of a finished run for files, texts, frames and arrays."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from chainrule.data.readers.encoders import ImageEncoder
from chainrule.data.readers.graph_table import NodeEncoder
from chainrule.data.readers.table_encoder import TableEncoder
from chainrule.data.splits import Encoder
from chainrule.data.text.encoders import SentenceEncoder
from chainrule.data.text.vocabulary import Vocabulary, read_lines
from chainrule.errors import InputError
from chainrule.runs.configuration import require
from chainrule.training import outputs

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from chainrule.runs.run import Run

Json = dict[str, Any]


def predict(run: "Run", inputs: Any) -> list[Json]:
    """One answer per row, image or text."""
    require(type(run.recipe), run.name, "predict")
    if isinstance(inputs, str | Path):
        inputs = [inputs]
    if isinstance(inputs, list | tuple) and all(isinstance(i, str | Path) for i in inputs):
        if not inputs:
            raise InputError("expected files or texts to predict from, got none")
        if text_encoder(run) is not None:
            return predict_texts(run, [str(given) for given in inputs])
        return predict_files(run, [Path(path) for path in inputs])
    if hasattr(inputs, "columns") or isinstance(inputs, dict):
        return answers(run, encoded_frame(run, inputs))
    return answers(run, as_inputs(run, inputs))


def answers(run: "Run", x: Tensor) -> list[Json]:
    """The decoded outputs for these inputs."""
    output = outputs(run.recipe.network_for(run.model), (x,)).float()
    return run.recipe.decode(output, run.summary)


def predict_files(run: "Run", paths: Sequence[Path]) -> list[Json]:
    """One answer per row or image of the user's files."""
    encoder, found = file_encoder(run), []
    for path in paths:
        answered = answers(run, encoder.encode_file(path))
        several = len(answered) > 1
        names = [
            f"{path.name}, row {k}" if several else path.name for k in range(1, len(answered) + 1)
        ]
        found += [{"input": name} | answer for name, answer in zip(names, answered, strict=True)]
    return found


def file_encoder(run: "Run") -> Encoder:
    """How the run reads a user's file."""
    if run.summary.encoder is None:
        raise InputError(f"the recipe of {run.folder} has no inputs that can be read from a file")
    return run.summary.encoder


def text_encoder(run: "Run") -> SentenceEncoder | None:
    """The run's reader of sentences, or None where its inputs are of another kind."""
    if not run.finished:
        raise InputError(f"the run in {run.folder} is not finished; chainrule resume {run.folder}")
    encoder = run.summary.encoder
    if isinstance(encoder, Vocabulary):
        raise InputError(
            f"the run in {run.folder} predicts the next token; let it write: "
            f"chainrule generate {run.folder}"
        )
    return encoder if isinstance(encoder, SentenceEncoder) else None


def predict_texts(run: "Run", inputs: Sequence[str]) -> list[Json]:
    """One answer per sentence; an input that names a file stands for its lines."""
    texts = [text for given in inputs for text in sentences(given)]
    return run.recipe.answer_texts(run.model, texts, run.summary)


def sentences(given: str) -> list[str]:
    """The input itself, or the lines of the file that it names."""
    try:
        names_file = Path(given).is_file()
    except (OSError, ValueError):  # too long for a name
        names_file = False
    if not names_file and given.endswith(".txt") and not any(map(str.isspace, given)):
        raise InputError(f"there is no file {given}")
    return read_lines(given) if names_file else [given]


def encoded_frame(run: "Run", frame: Any) -> Tensor:
    """The rows of a pandas frame, or of a dictionary of columns."""
    encoder = run.summary.encoder
    if not isinstance(encoder, TableEncoder):
        raise InputError(
            f"the run in {run.folder} has not learned from a table; expected an array of the "
            "model's inputs, files or texts, got columns"
        )
    return encoder.encode(frame)


def as_inputs(run: "Run", inputs: Any) -> Tensor:
    """A batch of the shape that the model takes; a single example becomes a batch of one."""
    try:
        x = inputs if isinstance(inputs, Tensor) else torch.as_tensor(inputs)
    except (TypeError, ValueError, RuntimeError) as error:
        raise InputError(
            "expected files, texts, a frame, a tensor or an array to predict from, got "
            f"{type(inputs).__name__}"
        ) from error
    encoder, shape = run.summary.encoder, run.summary.shape
    if isinstance(encoder, NodeEncoder):
        raise InputError(f"expected a CSV file of nodes of the graph, got {type(inputs).__name__}")
    if tuple(x.shape) == shape:
        x = x[None]
    if shape and tuple(x.shape[1:]) != shape:
        raise InputError(f"expected inputs of shape {shape}, a batch first, got {tuple(x.shape)}")
    if isinstance(encoder, SentenceEncoder):
        return x
    if isinstance(encoder, ImageEncoder) and not x.is_floating_point():
        raise InputError(f"expected pixels from 0 to 1, got {x.dtype}; divide them by the largest")
    return x.float()


def overlays(run: "Run", paths: Sequence[Path]) -> "list[Figure]":
    """Each image or cloud with the class of every pixel or point."""
    from chainrule.plots.points import segmented_cloud
    from chainrule.plots.segmentation import segmentation_overlay

    drawn, classes = [], run.summary.classes
    for path in paths:
        x = file_encoder(run).encode_file(path)
        found = outputs(run.model, (x,)).argmax(1)
        if x.ndim == 3:
            drawn.append(segmented_cloud(x[0].numpy(), found[0].numpy(), classes))
        else:
            drawn.append(segmentation_overlay(x.mean(1)[0].numpy(), found[0].numpy(), classes))
    return drawn
