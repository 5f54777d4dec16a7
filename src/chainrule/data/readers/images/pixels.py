"""The pixels of a PNG, JPEG or WebP file: upright, 8 bits a channel, transparent parts white."""

import struct
import warnings
from io import BytesIO
from typing import TYPE_CHECKING

import numpy as np

from chainrule.data.files import FileError
from chainrule.errors import InputError

if TYPE_CHECKING:
    from PIL import Image

MAX_PICTURE = 2**28  # bytes of a file
MAX_SIDE = 6_144  # pixels
FORMATS = ("PNG", "JPEG", "WEBP")


def decode(content: bytes, mode: str, name: str = "the image") -> np.ndarray:
    """The image as bytes, (h, w) if gray and (h, w, 3) else.

    content: the content of a file.
    mode: "L" for gray, "RGB" for color, as Pillow calls them.
    name: what the image is called in messages.
    """
    with warnings.catch_warnings(action="ignore"):  # the size is checked here
        return decode_quietly(content, mode, name)


def decode_quietly(content: bytes, mode: str, name: str) -> np.ndarray:
    """The same for threads, whose caller silences warnings, which threads share."""
    from PIL import Image

    try:
        with Image.open(BytesIO(content), formats=FORMATS) as image:
            if max(image.size) > MAX_SIDE:
                width, height = image.size
                raise FileError(
                    f"{name} has {width} × {height} pixels; reduce its size to at most "
                    f"{MAX_SIDE:,} on the longer side"
                )
            return _upright(image, mode)
    except FileError:
        raise
    except Image.DecompressionBombError as error:
        raise InputError(f"{name} has too many pixels; reduce its size") from error
    except (OSError, SyntaxError, ValueError, TypeError, LookupError, struct.error) as error:
        raise InputError(f"{name} cannot be read as a PNG, JPEG or WebP image") from error


def _upright(image: "Image.Image", mode: str) -> np.ndarray:
    """The pixels as the camera was held, with transparent parts white."""
    from PIL import Image, ImageOps

    ImageOps.exif_transpose(image, in_place=True)
    if image.mode.startswith("I"):
        image = Image.fromarray((np.asarray(image) // 257).astype(np.uint8))
    if image.has_transparency_data:
        white = Image.new("RGBA", image.size, "white")
        image = Image.alpha_composite(white, image.convert("RGBA"))
    return np.array(image.convert(mode))
