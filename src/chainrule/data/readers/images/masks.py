"""Masks: PNG files whose pixels name a class, and what their values mean.

gray       the value of a pixel: 0 and 255, or 0, 1, 2, …
palette    the index of a pixel, as in PASCAL VOC; the palette is kept for writing
color      the color of a pixel, as one number 0xrrggbb
"""

from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from chainrule.data.files import FileError
from chainrule.data.readers.images.pixels import MAX_SIDE
from chainrule.data.state import LIST, fields, one_of
from chainrule.errors import InputError

if TYPE_CHECKING:
    from PIL import Image

Kind = Literal["gray", "palette", "color"]
MAX_VALUES = 256  # classes of a mask
COLORS = 3 * 256  # numbers of a palette


class Mask(NamedTuple):
    """A mask as it is in its file.

    kind: what its values are.
    values: (h, w), one number per pixel.
    palette: red, green and blue of every index; empty for the other kinds.
    """

    kind: Kind
    values: np.ndarray
    palette: tuple[int, ...]


@dataclass(frozen=True)
class MaskFormat:
    """How class numbers are written as a mask, the same way as in training.

    kind: gray, palette or color.
    values: of the classes, in label order.
    palette: red, green and blue of every index; empty for the other kinds.
    """

    kind: str
    values: tuple[int, ...]
    palette: tuple[int, ...] = ()

    def names(self) -> tuple[str, ...]:
        """The classes by their values: 255, or #ff0000."""
        return tuple(f"#{v:06x}" if self.kind == "color" else str(v) for v in self.values)

    def image(self, classes: np.ndarray) -> "Image.Image":
        """The mask of these class numbers (h, w)."""
        from PIL import Image

        found = np.array(self.values)[classes]
        if self.kind == "color":
            parts = [(found >> shift) & 255 for shift in (16, 8, 0)]
            return Image.fromarray(np.stack(parts, 2).astype(np.uint8))
        drawn = Image.fromarray(found.astype(np.uint8))
        if self.kind == "palette":
            drawn.putpalette(self.palette)
        return drawn

    @classmethod
    def from_json(cls, state: Any) -> "MaskFormat":
        found = fields(
            state,
            "the format of masks",
            kind=one_of("gray", "palette", "color"),
            values=LIST,
            palette=LIST,
        )
        values, palette = tuple(found["values"]), tuple(found["palette"])
        most = 2**24 if found["kind"] == "color" else 256
        whole = all(type(v) is int and 0 <= v < most for v in values)
        if not (whole and 2 <= len(values) <= MAX_VALUES):
            raise InputError(f"expected 2 to {MAX_VALUES} values of masks below {most:,}")
        colors = all(type(c) is int and 0 <= c < 256 for c in palette)
        if not (colors and len(palette) in ((COLORS,) if found["kind"] == "palette" else (0,))):
            raise InputError(f"expected a palette of {COLORS} numbers from 0 to 255, or none")
        return cls(found["kind"], values, palette)


def decode_mask(content: bytes, name: str) -> Mask:
    """The mask in a PNG file; transparency is ignored.

    content: of the file.
    name: what the mask is called in messages.
    """
    from PIL import Image

    try:
        with Image.open(BytesIO(content), formats=("PNG",)) as image:
            if max(image.size) > MAX_SIDE:
                raise FileError(f"{name} is larger than {MAX_SIDE:,} pixels; reduce its size")
            return _mask_of(image, name)
    except FileError:
        raise
    except Exception as error:  # Pillow raises many kinds for damaged files
        raise InputError(f"{name} cannot be read as a PNG mask") from error


def _mask_of(image: "Image.Image", name: str) -> Mask:
    if image.mode == "P":
        found = list(image.getpalette("RGB") or [])[:COLORS]
        return Mask("palette", np.array(image), tuple(found + [0] * (COLORS - len(found))))
    if image.mode in ("1", "L", "LA"):
        return Mask("gray", np.array(image.convert("L")), ())
    if image.mode.startswith("I"):
        wide = np.array(image)
        if wide.max(initial=0) > 255:
            raise FileError(
                f"{name} has values up to {wide.max():,}; expected classes from 0 to 255"
            )
        return Mask("gray", wide.astype(np.uint8), ())
    red, green, blue = np.array(image.convert("RGB"), np.int64).transpose(2, 0, 1)
    return Mask("color", (red << 16) + (green << 8) + blue, ())
