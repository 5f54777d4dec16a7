"""Predictions of a finished run for files, texts, frames and arrays."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
import torch.nn.functional as F
from torch import Tensor

from chainrule.data.files import errors_naming, read_bytes
from chainrule.data.readers.encoders import ImageEncoder, VectorEncoder
from chainrule.data.readers.graphs.graph_set import GraphEncoder
from chainrule.data.readers.graphs.link_table import LinkEncoder
from chainrule.data.readers.graphs.node_encoder import NodeEncoder
from chainrule.data.readers.images.image_files import IMAGES, files_of
from chainrule.data.readers.images.masks import MaskFormat
from chainrule.data.readers.images.photos import PhotoEncoder
from chainrule.data.readers.images.pixels import MAX_PICTURE, decode
from chainrule.data.readers.points.clouds import CLOUDS, CloudEncoder
from chainrule.data.readers.series.series_encoder import SeriesEncoder
from chainrule.data.readers.series.series_rows import History
from chainrule.data.readers.tables.table_encoder import TableEncoder
from chainrule.data.splits import Encoder
from chainrule.data.text.encoders import SentenceEncoder
from chainrule.data.text.vocabulary import Vocabulary
from chainrule.errors import InputError
from chainrule.runs.bands import RECENT, checked_band, rolling_margins, widened
from chainrule.runs.configuration import require
from chainrule.runs.decisions import decided
from chainrule.runs.prediction_rows import is_text_table, sentences, text_column, texts_of
from chainrule.training import outputs

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from PIL import Image

    from chainrule.runs.run import Run

Json = dict[str, Any]
TABLES = (".csv", ".tsv", ".txt", ".gz", ".parquet", ".feather", ".xlsx", ".db", ".sqlite")


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
        if isinstance(run.summary.encoder, SeriesEncoder):
            return forecasts(run, run.summary.encoder, inputs)
        return answers(run, encoded_frame(run, inputs))
    return answers(run, as_inputs(run, inputs))


def answers(run: "Run", x: Tensor) -> list[Json]:
    """The decoded outputs for these inputs."""
    output = outputs(run.recipe.network_for(run.model), (x,)).float()
    found = run.recipe.decode(output, run.summary)
    return decided(found, run.result.get("decision", {}), run.summary.classes)


def predict_files(run: "Run", paths: Sequence[Path], beside: Sequence[Path] = ()) -> list[Json]:
    """One answer per row or image of the user's files; a folder stands for the files in it.

    Args:
        run: finished.
        paths: of the files; they are named by their last part where that is unique.
        beside: all files of the request, where they are read one by one.
    """
    encoder, found = file_encoder(run), []
    paths = with_folders_opened(run, paths)
    if isinstance(encoder, NodeEncoder | GraphEncoder):
        return run.recipe.answer_nodes(run.model, paths, run.summary)
    every = beside or paths
    unique = len({path.name for path in every}) == len(every)
    for path in paths:
        if isinstance(encoder, SeriesEncoder):
            with errors_naming(path):
                found += forecasts(run, encoder, path)
            continue
        answered = answers(run, encoder.encode_file(path))
        name, several = path.name if unique else str(path), len(answered) > 1
        names = [f"{name}, row {k}" if several else name for k in range(1, len(answered) + 1)]
        found += [{"input": name} | answer for name, answer in zip(names, answered, strict=True)]
    return found


def forecasts(run: "Run", encoder: SeriesEncoder, source: Any) -> list[Json]:
    """The steps after the end of each series of a table."""
    histories = encoder.histories(source)
    return encoder.answers(histories, forecast(run, encoder, histories))


def forecast(run: "Run", encoder: SeriesEncoder, histories: Sequence[History]) -> Tensor:
    """The quantiles of the next steps of these series, the band moved by their last forecasts."""
    output = outputs(run.recipe.network_for(run.model), (encoder.windows(histories),)).float()
    if band := run.result.get("decision", {}).get("band"):
        usual = checked_band(band, encoder.horizon)
        margins = [recent_margins(run, encoder, history, usual) for history in histories]
        output = widened(output, torch.stack(margins))
    return output


def recent_margins(run: "Run", encoder: SeriesEncoder, history: History, usual: Tensor) -> Tensor:
    """How far the band of the next forecast of a series is moved, by its last forecasts."""
    x, y, origins = encoder.recent(history, RECENT + encoder.horizon)
    output = outputs(run.recipe.network_for(run.model), (x,)).float()
    return rolling_margins(output, y, origins, usual)[-1]


def with_folders_opened(run: "Run", paths: Sequence[Path]) -> list[Path]:
    """The paths, with every folder replaced by the files in it that the run can read."""
    encoder = file_encoder(run)
    kinds = {ImageEncoder: IMAGES, PhotoEncoder: IMAGES, CloudEncoder: CLOUDS}
    below = kinds.get(type(encoder))
    table = isinstance(
        encoder,
        TableEncoder | VectorEncoder | NodeEncoder | LinkEncoder | GraphEncoder | SeriesEncoder,
    )
    endings = TABLES if table else ()
    found: list[Path] = []
    for path in paths:
        if not path.is_dir():
            found.append(path)
            continue
        if below is not None:
            found += files_of(path, below)[0]
            continue
        names = [f for f in sorted(path.iterdir()) if f.is_file() and not f.name.startswith(".")]
        fitting = [file for file in names if not endings or file.name.lower().endswith(endings)]
        if not fitting:
            raise InputError(
                f"the folder {path} has no files to predict from; expected "
                + (", ".join(endings) or "at least one")
            )
        found += fitting
    return found


def notes(run: "Run", paths: Sequence[Path]) -> list[str]:
    """What a user should know about these files: words that the run has never seen."""
    encoder = run.summary.encoder
    if not isinstance(encoder, TableEncoder):
        return []
    return [f"{path.name}: {note}" for path in paths for note in encoder.unseen(path)]


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
    column = text_column(run)
    texts = [
        text
        for given in inputs
        for text in (texts_of(given, column) if is_text_table(given, column) else sentences(given))
    ]
    return texts_answered(run, texts)


def texts_answered(run: "Run", texts: Sequence[str]) -> list[Json]:
    """One answer per sentence, none of which is taken for the name of a file."""
    found = run.recipe.answer_texts(run.model, texts, run.summary)
    return decided(found, run.result.get("decision", {}), run.summary.classes)


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
    if isinstance(encoder, NodeEncoder | LinkEncoder | GraphEncoder):
        raise InputError(f"expected tables of the graph, got {type(inputs).__name__}")
    if tuple(x.shape) == shape:
        x = x[None]
    if shape and tuple(x.shape[1:]) != shape:
        raise InputError(f"expected inputs of shape {shape}, a batch first, got {tuple(x.shape)}")
    if isinstance(encoder, SentenceEncoder):
        return x
    if isinstance(encoder, ImageEncoder | PhotoEncoder) and not x.is_floating_point():
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
            image = (x[0, 0] if x.shape[1] == 1 else x[0].permute(1, 2, 0)).numpy()
            drawn.append(segmentation_overlay(image, found[0].numpy(), classes))
    return drawn


def masks(run: "Run", paths: Sequence[Path]) -> "Iterator[Image.Image]":
    """The class of every pixel of each image, of its size, with the values of training masks.

    Scores are interpolated to the size of the image before the largest is taken.
    """
    encoder = file_encoder(run)
    if not isinstance(encoder, PhotoEncoder) or encoder.mask is None:
        raise InputError(
            f"the run in {run.folder} has not learned from masks and cannot write them; expected "
            "`out` to be a CSV or PNG file"
        )
    for path in paths:
        pixels = decode(read_bytes(path, MAX_PICTURE), encoder.mode, str(path))
        x = torch.from_numpy(encoder.square(pixels))[None].float() / 255
        scores = outputs(run.model, (x,)).float()
        yield mask_image(encoder.mask, scores, pixels.shape[:2])


def mask_image(form: MaskFormat, scores: Tensor, size: tuple[int, ...]) -> "Image.Image":
    """The mask of one image of this size, by the scores of its classes.

    Args:
        form: how training masks wrote the classes.
        scores: (1, classes, height, width), as the network gives them.
        size: height and width of the image.
    """
    full = F.interpolate(scores, size, mode="bilinear", align_corners=False)
    return form.image(full[0].argmax(0).numpy())
