"""Encoders of a user's images and numbers, and restoring any encoder from JSON."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from chainrule.data.files import errors_naming, read_bytes
from chainrule.data.readers.graphs.node_encoder import NodeEncoder
from chainrule.data.readers.images.photos import PhotoEncoder
from chainrule.data.readers.images.pixels import MAX_PICTURE, MAX_SIDE, decode
from chainrule.data.readers.series.series_encoder import SeriesEncoder
from chainrule.data.readers.tables.column_kinds import numeric_column
from chainrule.data.readers.tables.columns import read_csv, require_columns
from chainrule.data.readers.tables.table_encoder import TableEncoder
from chainrule.data.splits import Encoder
from chainrule.data.state import FLAG, NAMES, TEXT, fields, number, one_of, optional, whole
from chainrule.data.text.byte_pairs import BytePairs
from chainrule.data.text.encoders import BagEncoder, PairEncoder, TokenEncoder
from chainrule.data.text.vocabulary import Vocabulary
from chainrule.data.text.wordpiece import WordPiece
from chainrule.data.text.words import WordEncoder
from chainrule.errors import InputError
from chainrule.registry import unknown

BRIGHT = 0.5  # a brighter border is paper and not a dark background
FAINT = 0.1  # an image without a larger contrast is blank
INK = 0.3  # fraction of the strongest ink from which a pixel is ink; JPEG artifacts are weaker


@dataclass(frozen=True)
class ImageEncoder:
    """A PNG, JPEG or WebP file as one image (1, channels, size, size) in [0, 1].

    The image is centered on a square of its border's median color, then resized.

    size: height and width of the result.
    channels: 1 for gray, 3 for RGB.
    invert_bright: whether dark ink on bright paper is inverted, as in the digit data sets.
    margin: fraction of the frame left empty on each side of the ink (the pixels brighter than the
        paper after inversion). The paper becomes 0, the strongest stroke 1, and the center of mass
        is moved to the middle as far as the margin allows. None keeps the whole image, as for
        photographs.
    """

    size: int
    channels: int = 1
    invert_bright: bool = True
    margin: float | None = None

    def __post_init__(self) -> None:
        if self.margin is not None and not 0 <= self.margin < 0.5:
            raise InputError(f"margin must be at least 0 and below 0.5, got {self.margin}")

    def encode_file(self, path: str | Path) -> Tensor:
        return self.encode_bytes(read_bytes(path, MAX_PICTURE), str(path))

    def encode_bytes(self, content: bytes, name: str = "the image") -> Tensor:
        """The content of a file.

        content: its bytes.
        name: what the image is called in messages.
        """
        mode = "L" if self.channels == 1 else "RGB"
        return self.encode_pixels(decode(content, mode, name), name)

    def encode_pixels(self, pixels: np.ndarray, name: str = "the drawing") -> Tensor:
        """Bytes of an image, (h, w) if gray and (h, w, 3) else.

        pixels: the bytes.
        name: what the image is called in messages.
        """
        border = np.concatenate([pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]])
        paper = np.atleast_1d(np.median(border, axis=0)).astype(np.uint8)
        if self.invert_bright and paper.mean() / 255 > BRIGHT:
            pixels, paper = 255 - pixels, 255 - paper
        if self.margin is None:
            side = float(max(pixels.shape[:2]))
            middle = np.array(pixels.shape[:2]) / 2
        else:
            pixels, paper = _cropped_ink(name, pixels, paper), np.zeros_like(paper)
            side = max(pixels.shape[:2]) / (1 - 2 * self.margin)
            middle = _center(pixels, self.margin * side, side / self.size)
        x = torch.from_numpy(_resized(pixels, paper, middle, side, self.size)).float() / 255
        return x.reshape(1, self.size, self.size, self.channels).permute(0, 3, 1, 2).contiguous()

    def to_json(self) -> dict[str, Any]:
        return {"kind": "image", **asdict(self)}

    @classmethod
    def from_json(cls, state: Any) -> "ImageEncoder":
        return cls(
            **fields(
                state,
                "the encoder of images",
                size=whole(1, MAX_SIDE),
                channels=one_of(1, 3),
                invert_bright=FLAG,
                margin=optional(number(0.0, 0.5)),
            )
        )


@dataclass(frozen=True)
class VectorEncoder:
    """Numeric columns of a CSV file, unscaled: (rows, columns).

    columns: their names, in the order of the tensor.
    """

    columns: tuple[str, ...]

    def encode_file(self, path: str | Path) -> Tensor:
        table = read_csv(path)
        with errors_naming(path):
            require_columns(table, self.columns)
            x = np.stack([numeric_column(name, table[name]) for name in self.columns], axis=1)
            if np.isnan(x).any():
                row, column = np.argwhere(np.isnan(x))[0]
                raise InputError(
                    "expected a number in every row, got none in column "
                    f"{self.columns[column]!r}, row {row + 1} below the header"
                )
        return torch.from_numpy(x).float()

    def to_json(self) -> dict[str, Any]:
        return {"kind": "vector", **asdict(self)}

    @classmethod
    def from_json(cls, state: Any) -> "VectorEncoder":
        found = fields(state, "the encoder of numbers", columns=NAMES)
        return cls(tuple(found["columns"]))


def encoder_from_json(state: Any) -> Encoder:
    """The encoder whose `to_json` returned `state`.

    Args:
        state: Plain values, as in data.json of a run folder.

    >>> import chainrule as cr
    >>> encoder = cr.data.digits().encoder
    >>> encoder_from_json(encoder.to_json()) == encoder
    True
    """
    # Imported here because point_encoders imports this file.
    from chainrule.data.readers.graphs.graph_set import GraphEncoder
    from chainrule.data.readers.graphs.link_table import LinkEncoder
    from chainrule.data.readers.points.clouds import CloudEncoder
    from chainrule.data.readers.points.point_encoders import DrawingEncoder, PointEncoder

    constructors: dict[str, Callable[[Any], Encoder]] = {
        "table": TableEncoder.from_json,
        "image": ImageEncoder.from_json,
        "photo": PhotoEncoder.from_json,
        "vector": VectorEncoder.from_json,
        "points": PointEncoder.from_json,
        "cloud": CloudEncoder.from_json,
        "nodes": NodeEncoder.from_json,
        "links": LinkEncoder.from_json,
        "graphs": GraphEncoder.from_json,
        "drawing": DrawingEncoder.from_json,
        "series": SeriesEncoder.from_json,
        "vocabulary": Vocabulary.from_json,
        "byte-pairs": BytePairs.from_json,
        "tokens": TokenEncoder.from_json,
        "bag": BagEncoder.from_json,
        "pair": PairEncoder.from_json,
        "wordpiece": WordPiece.from_json,
        "words": WordEncoder.from_json,
    }
    kind = fields(state, "the encoder", kind=TEXT)["kind"]
    if kind not in constructors:
        raise InputError(unknown("encoder", kind, list(constructors)))
    return constructors[kind](state)


def _cropped_ink(name: str, pixels: np.ndarray, paper: np.ndarray) -> np.ndarray:
    """The bounding box of the ink, with the paper at 0 and the strongest stroke at 255."""
    brighter = np.maximum(pixels, paper) - paper
    strength = brighter.reshape(*pixels.shape[:2], -1).max(axis=2)
    peak = strength.max()
    if peak < FAINT * 255:
        raise InputError(
            f"no ink found in {name}; expected a drawing that stands out from its background"
        )
    inked = strength > INK * peak
    rows, columns = np.flatnonzero(inked.any(axis=1)), np.flatnonzero(inked.any(axis=0))
    box = brighter[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    return (box * (255 / peak)).round().astype(np.uint8)


def _center(pixels: np.ndarray, room: float, step: float) -> np.ndarray:
    """(row, column) of the center of mass, at most `room` away from the middle of the image."""
    mass = pixels.reshape(*pixels.shape[:2], -1).sum(axis=2, dtype=np.float64)
    lines = mass.sum(axis=1), mass.sum(axis=0)
    center = [line @ (np.arange(len(line)) + 0.5) / mass.sum() for line in lines]
    middle = np.array(mass.shape) / 2
    # MNIST puts the center of mass on the center of pixel 14 of 28, half a pixel off the middle.
    return middle + (np.array(center) - step / 2 - middle).clip(-room, room)


def _resized(
    pixels: np.ndarray, paper: np.ndarray, middle: np.ndarray, side: float, size: int
) -> np.ndarray:
    """The square with this middle and side as size × size pixels, paper outside the image."""
    from PIL import Image

    shape = np.array(pixels.shape[:2])
    start = middle - side / 2
    pad = np.ceil(np.maximum(-start, start + side - shape).clip(0)).astype(int)
    canvas = np.full((*(shape + 2 * pad), *pixels.shape[2:]), paper, np.uint8)
    canvas[pad[0] : pad[0] + shape[0], pad[1] : pad[1] + shape[1]] = pixels
    top, left = (start + pad).tolist()
    box = (left, top, left + side, top + side)
    return np.array(Image.fromarray(canvas).resize((size, size), Image.Resampling.LANCZOS, box))
