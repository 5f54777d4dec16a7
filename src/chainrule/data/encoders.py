"""Readers of a user's own pictures and numbers, and the way back from a saved reader."""

import warnings
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from chainrule.data.columns import numbers, read_csv
from chainrule.data.splits import Encoder
from chainrule.data.table_encoder import TableEncoder
from chainrule.errors import InputError
from chainrule.registry import unknown

BRIGHT = 0.5  # a border brighter than this is paper, not background


@dataclass(frozen=True)
class ImageEncoder:
    """A PNG or JPEG as one picture of (1, channels, size, size) in [0, 1].

    The picture is centred on a square of its border's mean colour, then resized.
    invert_bright: dark ink on bright paper becomes bright ink on dark, as in the digit sets.
    """

    size: int
    channels: int = 1
    invert_bright: bool = True

    def encode_file(self, path: str | Path) -> Tensor:
        from PIL import Image

        pixels = _pixels(path, "L" if self.channels == 1 else "RGB")
        border = np.concatenate([pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]])
        paper = border.mean(axis=0).round().astype(np.uint8)
        height, width = pixels.shape[:2]
        side = max(height, width)
        top, left = (side - height) // 2, (side - width) // 2
        square = np.full((side, side, *pixels.shape[2:]), paper, np.uint8)
        square[top : top + height, left : left + width] = pixels
        resized = Image.fromarray(square).resize((self.size, self.size), Image.Resampling.LANCZOS)
        x = torch.from_numpy(np.array(resized)).float() / 255
        if self.invert_bright and paper.mean() / 255 > BRIGHT:
            x = 1 - x
        return x.reshape(1, self.size, self.size, self.channels).permute(0, 3, 1, 2).contiguous()

    def to_json(self) -> dict[str, Any]:
        return {"kind": "image", **asdict(self)}

    @classmethod
    def from_json(cls, state: dict[str, Any]) -> "ImageEncoder":
        return cls(state["size"], state["channels"], state["invert_bright"])


@dataclass(frozen=True)
class VectorEncoder:
    """The named number columns of a CSV file as they are: (rows, columns)."""

    columns: tuple[str, ...]

    def encode_file(self, path: str | Path) -> Tensor:
        table = read_csv(path)
        absent = [name for name in self.columns if name not in table]
        if absent:
            raise InputError(
                f"{path}: expected the columns {', '.join(self.columns)}, got {', '.join(table)}"
            )
        x = np.stack([numbers(name, table[name]) for name in self.columns], axis=1)
        if np.isnan(x).any():
            row, column = np.argwhere(np.isnan(x))[0]
            raise InputError(
                f"{path}: expected a number in every row, got none in column "
                f"{self.columns[column]!r}, row {row + 1} below the header"
            )
        return torch.from_numpy(x).float()

    def to_json(self) -> dict[str, Any]:
        return {"kind": "vector", **asdict(self)}

    @classmethod
    def from_json(cls, state: dict[str, Any]) -> "VectorEncoder":
        return cls(tuple(state["columns"]))


def encoder_from_json(state: dict[str, Any]) -> Encoder:
    """The encoder whose `to_json` gave this."""
    kinds: dict[str, type[TableEncoder] | type[ImageEncoder] | type[VectorEncoder]]
    kinds = {"table": TableEncoder, "image": ImageEncoder, "vector": VectorEncoder}
    kind = str(state.get("kind"))
    if kind not in kinds:
        raise InputError(unknown("encoder", kind, list(kinds)))
    return kinds[kind].from_json(state)


def _pixels(path: str | Path, mode: str) -> np.ndarray:
    """The picture as bytes, upright, transparent parts white."""
    from PIL import Image, ImageOps

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(path, formats=("PNG", "JPEG")) as image:
                upright = ImageOps.exif_transpose(image)
    except FileNotFoundError:
        raise InputError(f"there is no file {path}") from None
    except (Image.DecompressionBombWarning, Image.DecompressionBombError) as error:
        raise InputError(
            f"{path} has more than {Image.MAX_IMAGE_PIXELS} pixels; make it smaller"
        ) from error
    except (OSError, SyntaxError, ValueError) as error:
        raise InputError(f"{path} cannot be read as a PNG or JPEG picture") from error
    if upright.mode.startswith("I"):
        upright = Image.fromarray((np.asarray(upright) // 257).astype(np.uint8))
    if upright.has_transparency_data:
        upright = upright.convert("RGBA")
        white = Image.new("RGBA", upright.size, "white")
        upright = Image.alpha_composite(white, upright)
    return np.array(upright.convert(mode))
