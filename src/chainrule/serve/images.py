"""Pictures as inputs of a service: files in base64, or data URLs of them."""

import base64
import binascii
import re
import time
from io import BytesIO
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from chainrule.data.readers.encoders import ImageEncoder
from chainrule.data.readers.images.photos import PhotoEncoder
from chainrule.data.state import shown
from chainrule.errors import InputError
from chainrule.serve.inputs import Json, Tensors

DATA_URL = re.compile(r"data:image/[a-z+.-]{1,20};base64,")  # what a page makes of a file


class Images(Tensors):
    """Pictures: files in base64."""

    key = "images"

    def examples(self, given: list[Any]) -> Tensor:
        encoder = self.run.summary.encoder
        assert isinstance(encoder, ImageEncoder | PhotoEncoder)
        found, start = [], time.monotonic()
        for number, text in enumerate(given, 1):
            if not isinstance(text, str):
                raise InputError(f"image {number}: expected base64, got {shown(text)}")
            self.check_time(start)
            content = decoded(text, f"image {number}")
            found.append(encoder.encode_bytes(content, f"image {number}"))
        return torch.cat(found)

    def item(self) -> Json:
        return {"type": "string", "contentEncoding": "base64", "contentMediaType": "image/png"}

    def sample(self) -> str:
        stroke = np.full((28, 28), 255, np.uint8)
        stroke[5:23, 13:16] = 0
        content = BytesIO()
        Image.fromarray(stroke).save(content, "PNG")
        return base64.b64encode(content.getvalue()).decode()


def decoded(text: str, name: str) -> bytes:
    """The content of a file in base64, broken into lines or not."""
    url = DATA_URL.match(text)
    plain = "".join((text[url.end() :] if url else text).split())
    try:
        return base64.b64decode(plain, validate=True)
    except (binascii.Error, ValueError):
        raise InputError(
            f"{name} is not valid base64; expected the content of a PNG, JPEG or WebP file"
        ) from None
