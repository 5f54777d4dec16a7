"""What a service takes, by the kind of its run: rows, texts, images, prompts or arrays.

Each kind reads the body of a request into examples, which are checked here, before they share a
batch with others; answers the examples of many requests at once; and describes itself in the words
of JSON Schema.
"""

import base64
import binascii
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import partial
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from chainrule.data.readers.encoders import ImageEncoder
from chainrule.data.readers.photos import PhotoEncoder
from chainrule.data.readers.table_encoder import CategoricalColumn, TableEncoder
from chainrule.data.state import shown
from chainrule.data.text.vocabulary import Vocabulary
from chainrule.errors import InputError
from chainrule.runs.predict import answers, text_encoder
from chainrule.runs.run import Run

Json = dict[str, Any]
MOST_EXAMPLES = 10_000  # of one request
MOST_LETTERS = 100_000  # of one text
WORD = {"type": ["string", "number", "boolean", "null"]}
NUMBER = {
    "anyOf": [
        {"type": "number", "minimum": -1e15, "maximum": 1e15},
        {"type": "string", "pattern": r"^-?[0-9]{1,12}(\.[0-9]{1,12})?$"},
        {"type": "null"},
    ]
}


class Inputs(ABC):
    """The examples of a request, for one run."""

    key: ClassVar[str]
    """Where they stand in the body."""

    def __init__(self, run: Run):
        self.run = run

    def read(self, body: Any) -> tuple[Any, int]:
        """The examples of a body, checked, and their number."""
        given = body.get(self.key) if isinstance(body, dict) else None
        if not isinstance(given, list) or not given or set(body) != {self.key}:
            raise InputError(
                f'expected an object {{"{self.key}": […]}} with one example or more, '
                f"got {shown(body)}"
            )
        if len(given) > MOST_EXAMPLES:
            raise InputError(
                f"expected at most {MOST_EXAMPLES:,} examples in a request, got {len(given):,}"
            )
        return self.examples(given), len(given)

    @abstractmethod
    def examples(self, given: list[Any]) -> Any:
        """The examples of one request, in the form that `answer` takes."""

    @abstractmethod
    def answer(self, requests: list[Any]) -> list[list[Json]]:
        """The answers for the examples of each request."""

    @abstractmethod
    def item(self) -> Json:
        """The JSON schema of one example."""

    @abstractmethod
    def sample(self) -> Any:
        """One example for the documentation."""

    def schema(self) -> Json:
        """The JSON schema of a body."""
        examples = {"type": "array", "minItems": 1, "maxItems": MOST_EXAMPLES, "items": self.item()}
        return {
            "type": "object",
            "required": [self.key],
            "properties": {self.key: examples},
            "additionalProperties": False,
            "example": {self.key: [self.sample()]},
        }


class Tensors(Inputs):
    """Examples that become rows of one tensor."""

    def answer(self, requests: list[Tensor]) -> list[list[Json]]:
        return divided(answers(self.run, torch.cat(requests)), requests)


class Rows(Tensors):
    """Rows of a table: an object with a value for every column."""

    key = "rows"

    @property
    def encoder(self) -> TableEncoder:
        assert isinstance(self.run.summary.encoder, TableEncoder)
        return self.run.summary.encoder

    def examples(self, given: list[Any]) -> Tensor:
        names = [column.name for column in self.encoder.columns]
        for number, row in enumerate(given, 1):
            if not isinstance(row, dict):
                raise InputError(f"row {number}: expected an object of columns, got {shown(row)}")
            for name in names:
                if name not in row:
                    raise InputError(
                        f"row {number} has no {name!r}; expected the columns {', '.join(names)}, "
                        "with null for a missing value"
                    )
                if isinstance(row[name], dict | list):
                    raise InputError(
                        f"row {number}, {name!r}: expected a number or a text, "
                        f"got {shown(row[name])}"
                    )
        return self.encoder.encode({name: [row[name] for row in given] for name in names})

    def item(self) -> Json:
        properties = {
            column.name: WORD if isinstance(column, CategoricalColumn) else NUMBER
            for column in self.encoder.columns
        }
        return {"type": "object", "required": list(properties), "properties": properties}

    def sample(self) -> Json:
        return {
            column.name: column.words[0]
            if isinstance(column, CategoricalColumn)
            else round(column.median, 3)
            for column in self.encoder.columns
        }


class Images(Tensors):
    """Pictures: files in base64."""

    key = "images"

    def examples(self, given: list[Any]) -> Tensor:
        encoder = self.run.summary.encoder
        assert isinstance(encoder, ImageEncoder | PhotoEncoder)
        found = []
        for number, text in enumerate(given, 1):
            if not isinstance(text, str):
                raise InputError(f"image {number}: expected base64, got {shown(text)}")
            try:
                content = base64.b64decode(text, validate=True)
            except (binascii.Error, ValueError):
                raise InputError(f"image {number} is not valid base64") from None
            found.append(encoder.encode_bytes(content, f"image {number}"))
        return torch.cat(found)

    def item(self) -> Json:
        return {"type": "string", "contentEncoding": "base64", "contentMediaType": "image/png"}

    def sample(self) -> str:
        from io import BytesIO

        from PIL import Image

        stroke = np.full((28, 28), 255, np.uint8)
        stroke[5:23, 13:16] = 0
        content = BytesIO()
        Image.fromarray(stroke).save(content, "PNG")
        return base64.b64encode(content.getvalue()).decode()


class Arrays(Tensors):
    """Inputs as the network takes them: nested lists of numbers."""

    key = "inputs"

    def examples(self, given: list[Any]) -> Tensor:
        shape = tuple(self.run.summary.shape)
        try:
            x = torch.as_tensor(given)
        except (TypeError, ValueError, RuntimeError, OverflowError):
            raise InputError(f"expected nested lists of numbers of shape {shape} each") from None
        if tuple(x.shape[1:]) != shape or x.is_complex():
            raise InputError(f"expected inputs of shape {shape} each, got {tuple(x.shape[1:])}")
        if not (x := x.float()).isfinite().all():
            raise InputError("expected finite numbers, got some that float32 cannot hold")
        return x

    def item(self) -> Json:
        nested: Json = {"type": "number"}
        for size in reversed(self.run.summary.shape):
            nested = {"type": "array", "minItems": size, "maxItems": size, "items": nested}
        return nested

    def sample(self) -> Any:
        return torch.zeros(self.run.summary.shape).tolist()


class Texts(Inputs):
    """Sentences."""

    key = "texts"

    def examples(self, given: list[Any]) -> list[str]:
        for number, text in enumerate(given, 1):
            if not isinstance(text, str) or not text.strip() or len(text) > MOST_LETTERS:
                raise InputError(
                    f"text {number}: expected 1 to {MOST_LETTERS:,} letters, got {shown(text)}"
                )
        return given

    def answer(self, requests: list[list[str]]) -> list[list[Json]]:
        texts = [text for request in requests for text in request]
        found = self.run.recipe.answer_texts(self.run.model, texts, self.run.summary)
        return divided(found, requests)

    def item(self) -> Json:
        return {"type": "string", "minLength": 1, "maxLength": MOST_LETTERS, "pattern": r"\S"}

    def sample(self) -> str:
        return "a quiet film with a wonderful ending"


class Prompts(Texts):
    """Beginnings of a text, which a language model continues."""

    key = "prompts"

    def answer(self, requests: list[list[str]]) -> list[list[Json]]:
        write = partial(self.run.generate, length=200)
        return [
            [{"input": text, "prediction": write(text)} for text in request] for request in requests
        ]


def divided(found: Sequence[Json], requests: Sequence[Any]) -> list[list[Json]]:
    """The answers by request."""
    rest = iter(found)
    return [[next(rest) for _ in range(len(request))] for request in requests]


def inputs_of(run: Run) -> Inputs:
    """What a run can be asked."""
    from chainrule.runs.configuration import require

    require(type(run.recipe), run.name, "predict")
    if isinstance(run.summary.encoder, Vocabulary):
        return Prompts(run)
    encoder = run.summary.encoder
    if text_encoder(run) is not None:
        return Texts(run)
    kinds: dict[type, type[Inputs]] = {
        TableEncoder: Rows,
        ImageEncoder: Images,
        PhotoEncoder: Images,
    }
    found = next((kind for type_, kind in kinds.items() if isinstance(encoder, type_)), None)
    if found is None and not run.summary.shape:
        raise InputError(f"the run in {run.folder} has no inputs that a service could take")
    return (found or Arrays)(run)
