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
from chainrule.data.readers.images.masks import MaskFormat
from chainrule.data.readers.images.photos import PhotoEncoder
from chainrule.data.readers.images.pixels import decode
from chainrule.data.state import shown
from chainrule.errors import InputError
from chainrule.runs.predict import mask_image, outputs
from chainrule.serve.inputs import Json, Tensors, divided

MOST_SCORES = 2**26  # of a mask: pixels times classes

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


class MaskedImages(Images):
    """Pictures whose pixels get a class: the answer has the mask as a PNG file in base64."""

    def examples(self, given: list[Any]) -> Any:
        """(what the network sees, height and width) of each picture."""
        encoder, form = self.formats
        found, start = [], time.monotonic()
        for number, text in enumerate(given, 1):
            name = f"image {number}"
            if not isinstance(text, str):
                raise InputError(f"{name}: expected base64, got {shown(text)}")
            self.check_time(start)
            pixels = decode(decoded(text, name), encoder.mode, name)
            height, width = pixels.shape[:2]
            if height * width * len(form.values) > MOST_SCORES:
                most = MOST_SCORES // len(form.values)
                raise InputError(
                    f"{name} has {width} × {height} pixels; expected at most {most:,} in all, as "
                    "its mask has the same size"
                )
            x = torch.from_numpy(encoder.square(pixels))[None].float() / 255
            found.append((x, (height, width)))
        return found

    @property
    def formats(self) -> tuple[PhotoEncoder, MaskFormat]:
        encoder = self.run.summary.encoder
        assert isinstance(encoder, PhotoEncoder) and encoder.mask is not None
        return encoder, encoder.mask

    def answer(self, requests: list[Any]) -> list[list[Json]]:
        every, start = [one for request in requests for one in request], time.monotonic()
        x = torch.cat([pixels for pixels, _ in every])
        scores = outputs(self.run.recipe.network_for(self.run.model), (x,)).float()
        found = self.run.recipe.decode(scores, self.run.summary)
        answers = []
        for answer, one, (_, size) in zip(found, scores, every, strict=True):
            self.check_time(start)
            content = BytesIO()
            mask_image(self.formats[1], one[None], size).save(content, "PNG")
            answers.append(answer | {"mask": base64.b64encode(content.getvalue()).decode()})
        return divided(answers, requests)


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
