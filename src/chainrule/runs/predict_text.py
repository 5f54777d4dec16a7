"""Sentences of the user's, answered by a finished run: translated, or given a class."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from torch import nn

from chainrule.data.readers.encoders import encoder_from_json
from chainrule.data.splits import Encoder
from chainrule.data.text.vocabulary import Vocabulary, read_lines
from chainrule.data.text.encoders import PairEncoder, SentenceEncoder
from chainrule.errors import InputError
from chainrule.recipes.families.fine_tuning import FineTuned
from chainrule.runs.predict import answers
from chainrule.runs.run import open_model, read_json
from chainrule.recipes.families.translation import Translating, translate
from chainrule.training import outputs


@runtime_checkable
class Answering(Protocol):
    """A recipe that says itself what its model answers to texts, one row or several for each."""

    def answer_texts(
        self, model: nn.Module, texts: Sequence[str], reader: Any
    ) -> list[dict[str, Any]]: ...


def text_reader(folder: Path) -> SentenceEncoder | None:
    """The run's reader of sentences, or None where its inputs are files of another kind."""
    path = folder / "task.json"
    state = read_json(path)["encoder"] if path.is_file() else None
    reader: Encoder | None = encoder_from_json(state) if state else None
    if isinstance(reader, Vocabulary):
        raise InputError(
            f"the run in {folder} guesses the next token; let it write: chainrule generate {folder}"
        )
    return reader if isinstance(reader, SentenceEncoder) else None


def predict_texts(
    folder: Path, inputs: Sequence[str], reader: SentenceEncoder
) -> list[dict[str, Any]]:
    """One answer per sentence; an input that names a file stands for the lines of it."""
    recipe, model, task = open_model(folder)
    texts = [text for given in inputs for text in sentences(given)]
    if isinstance(recipe, Answering):
        return recipe.answer_texts(model, texts, reader)
    x = reader.encode_texts(texts)
    if isinstance(recipe, Translating) and isinstance(reader, PairEncoder):
        found = translate(model, x, reader, recipe.beam)
        return [{"input": a, "prediction": b} for a, b in zip(texts, found, strict=True)]
    network = recipe.reader(model) if isinstance(recipe, FineTuned) else model
    found_classes = answers(recipe, outputs(network, (x,)).float(), task)
    return [{"input": a} | b for a, b in zip(texts, found_classes, strict=True)]


def sentences(given: str) -> list[str]:
    """The input itself, or the lines of the file that it names."""
    try:
        names_file = Path(given).is_file()
    except (OSError, ValueError):  # too long for a name
        names_file = False
    if not names_file and given.endswith(".txt") and not any(map(str.isspace, given)):
        raise InputError(f"there is no file {given}")
    return read_lines(given) if names_file else [given]
