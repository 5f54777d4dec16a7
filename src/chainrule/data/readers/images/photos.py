"""Encoder of photographs: a file of any size as a square image, as training saw it."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import torch
from torch import Tensor

from chainrule.data.files import read_bytes
from chainrule.data.readers.images.masks import MaskFormat
from chainrule.data.readers.images.pixels import MAX_PICTURE, decode
from chainrule.data.state import OBJECT, fields, one_of, optional, whole
from chainrule.errors import InputError

Resize = Literal["crop", "pad", "stretch"]
"""How an oblong image becomes a square."""
RESIZES: tuple[str, ...] = get_args(Resize)
MAX_SIZE = 1_024  # pixels along a side of an encoded image


@dataclass(frozen=True)
class PhotoEncoder:
    """A PNG, JPEG or WebP file as one image (1, channels, size, size) in [0, 1].

    size: height and width of the result.
    channels: 1 for gray, 3 for RGB.
    resize: "crop" takes the square in the middle, "pad" adds black bars, "stretch" changes the
        aspect ratio.
    mask: where the classes of pixels are learned, how they are written as a mask.
    """

    size: int
    channels: int = 3
    resize: str = "crop"
    mask: MaskFormat | None = None

    def __post_init__(self) -> None:
        if not 1 <= self.size <= MAX_SIZE:
            raise InputError(f"`size` must be from 1 to {MAX_SIZE:,} pixels, got {self.size}")
        if self.resize not in RESIZES:
            raise InputError(f"`resize` must be one of {', '.join(RESIZES)}, got {self.resize!r}")

    @property
    def mode(self) -> str:
        """Pillow's name of the channels."""
        return "L" if self.channels == 1 else "RGB"

    @property
    def shape(self) -> tuple[int, int, int]:
        """Of one encoded image."""
        return self.channels, self.size, self.size

    def encode_file(self, path: str | Path) -> Tensor:
        return self.encode_bytes(read_bytes(path, MAX_PICTURE), str(path))

    def encode_bytes(self, content: bytes, name: str = "the image") -> Tensor:
        """The content of a file.

        content: its bytes.
        name: what the image is called in messages.
        """
        square = self.square(decode(content, self.mode, name))
        return torch.from_numpy(square)[None].float() / 255

    def square(self, pixels: np.ndarray, smooth: bool = True) -> np.ndarray:
        """Bytes (h, w) or (h, w, 3) as bytes (channels, size, size).

        pixels: of an image of any size.
        smooth: whether neighbors are averaged; False keeps values such as those of a mask.
        """
        from PIL import Image

        height, width = pixels.shape[:2]
        if self.resize == "pad":
            pixels = _padded(pixels)
            height, width = pixels.shape[:2]
        side = min(height, width)
        left, top = (width - side) / 2, (height - side) / 2
        box = (left, top, left + side, top + side) if self.resize == "crop" else None
        how = Image.Resampling.LANCZOS if smooth else Image.Resampling.NEAREST
        small = np.array(Image.fromarray(pixels).resize((self.size, self.size), how, box))
        return np.ascontiguousarray(small.reshape(self.size, self.size, -1).transpose(2, 0, 1))

    def to_json(self) -> dict[str, Any]:
        return {"kind": "photo", **asdict(self)}

    @classmethod
    def from_json(cls, state: Any) -> "PhotoEncoder":
        found = fields(
            state,
            "the encoder of photographs",
            size=whole(1, MAX_SIZE),
            channels=one_of(1, 3),
            resize=one_of(*RESIZES),
            mask=optional(OBJECT),
        )
        if "mask" in found:
            found["mask"] = MaskFormat.from_json(found["mask"])
        return cls(**found)


def _padded(pixels: np.ndarray) -> np.ndarray:
    """On a black square of the longer side."""
    height, width = pixels.shape[:2]
    side = max(height, width)
    canvas = np.zeros((side, side, *pixels.shape[2:]), np.uint8)
    top, left = (side - height) // 2, (side - width) // 2
    canvas[top : top + height, left : left + width] = pixels
    return canvas
