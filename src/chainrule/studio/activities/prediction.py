"""A finished run applied to files or texts that the page sends."""

import base64
import binascii
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from chainrule.errors import InputError
from chainrule.runs.predict import text_encoder
from chainrule.runs.run import Run
from chainrule.studio.activity import Activity, Json, Range, View, read, rounded
from chainrule.studio.place import run_folder

ROWS = 200  # answers that are shown
LARGEST_FILE = 7_000_000  # characters of base64


@dataclass(frozen=True)
class Settings:
    """Which run, by its name."""

    run: Annotated[str, Range(1, 200)]


@dataclass(frozen=True)
class Question:
    """A text, or the content of a file.

    Args:
        text: a sentence; empty if a file is sent.
        name: of the file; only its suffix matters.
        data: its content in base64.
    """

    text: Annotated[str, Range(0, 10_000)] = ""
    name: Annotated[str, Range(0, 200)] = ""
    data: Annotated[str, Range(0, LARGEST_FILE)] = ""


def run(settings: Json) -> Activity:
    training = Run.load(run_folder(read(Settings, settings).run))
    takes = "text" if text_encoder(training) is not None else "files"
    content: Json = {"takes": takes, "answers": []}
    while True:
        message = yield View(lambda content=content: content, waiting=True)  # type: ignore[misc]
        try:
            found = answers(training, read(Question, message or {}))
            content = {"takes": takes, "answers": [plain(answer) for answer in found[:ROWS]]}
        except InputError as error:  # the next question may be better
            content = {"takes": takes, "answers": [], "refused": str(error)}


def answers(training: Run, question: Question) -> list[Json]:
    """As `predict` gives them; a sentence is never taken for the name of a file."""
    if question.text:
        if text_encoder(training) is None:
            raise InputError(f"{training.name} reads files, not sentences")
        return training.recipe.answer_texts(training.model, [question.text], training.summary)
    suffix = Path(question.name).suffix
    if not (suffix[1:].isalnum() and len(suffix) <= 8):
        raise InputError("expected a file with an ending such as .png or .csv")
    try:
        content = base64.b64decode(question.data, validate=True)
    except binascii.Error:
        raise InputError("the file did not arrive whole; send it again") from None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"file{suffix.lower()}"
        path.write_bytes(content)
        return training.predict([path])


def plain(answer: Json) -> Json:
    """Numbers shortened, everything else as text."""
    return {name: short(value) for name, value in answer.items()}


def short(value: Any) -> Any:
    if isinstance(value, float):
        return rounded(value)
    if isinstance(value, dict):
        return {str(name): short(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [short(part) for part in value]
    return value if isinstance(value, int | str) or value is None else str(value)
