"""Pictures between the page and an activity: bytes of gray pixels, and two photographs."""

import base64
import binascii
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from jaxtyping import UInt8

from chainrule.errors import InputError

PHOTOGRAPHS = ("china", "flower")  # those of scikit-learn, CC BY
DRAWING = 56  # pixels on each side of a drawing

Pixels = UInt8[np.ndarray, "height width"]


def pixels(text: str, height: int, width: int) -> Pixels:
    """The bytes of an image that the page sent as base64, row by row."""
    try:
        content = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise InputError("the pixels of an image must be base64") from None
    if len(content) != height * width:
        raise InputError(
            f"an image of {height} × {width} has {height * width} pixels, got {len(content)}"
        )
    return np.frombuffer(content, np.uint8).reshape(height, width)


def drawing(text: str) -> Pixels:
    """A drawing of the page: bright ink on a dark ground."""
    return pixels(text, DRAWING, DRAWING)


def photograph(name: str, width: int) -> Pixels:
    """One of the photographs that come with scikit-learn, in gray."""
    from PIL import Image

    package = find_spec("sklearn")
    for place in package.submodule_search_locations or () if package else ():
        path = Path(place, "datasets", "images", f"{name}.jpg")
        if path.is_file():
            with Image.open(path) as image:
                height = round(width * image.height / image.width)
                return np.array(image.convert("L").resize((width, height)))
    raise InputError(f"this scikit-learn comes without its photograph {name}; drop one of your own")
