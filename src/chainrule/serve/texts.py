"""Texts as inputs of a service, and beginnings that a language model continues."""

import time
from collections.abc import Sequence
from typing import Any

from chainrule.data.state import shown
from chainrule.data.text.vocabulary import Vocabulary
from chainrule.errors import InputError
from chainrule.runs.predict import texts_answered
from chainrule.serve.inputs import Inputs, Json, divided

MOST_LETTERS = 100_000  # of one text
LENGTH = 200  # tokens that continue a prompt


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
        found = texts_answered(self.run, texts)
        return divided(by_sentence(texts, found), requests)

    def item(self) -> Json:
        return {"type": "string", "minLength": 1, "maxLength": MOST_LETTERS, "pattern": r"\S"}

    def sample(self) -> str:
        return self.run.recipe.example_text


class Prompts(Texts):
    """Beginnings of a text, which a language model continues, one after another."""

    key = "prompts"
    most = 8
    together = 1

    def sample(self) -> str:
        """Words whose letters the model knows."""
        vocabulary, usual = self.run.summary.encoder, super().sample()
        assert isinstance(vocabulary, Vocabulary)
        known = usual if vocabulary.knows(usual) else "".join(filter(vocabulary.knows, usual))
        return known if known.strip() else vocabulary.tokens[-1]

    def answer(self, requests: list[list[str]]) -> list[list[Json]]:
        start = time.monotonic()

        def written(text: str) -> Json:
            self.check_time(start)
            return {"input": text, "prediction": self.run.generate(text, length=LENGTH)}

        return [[written(text) for text in request] for request in requests]


def by_sentence(texts: Sequence[str], found: list[Json]) -> list[Json]:
    """One answer for each text; a tagger's, one for each word, are put together."""
    if not found or "sentence" not in found[0]:
        return found
    words: list[list[Json]] = [[] for _ in texts]
    for answer in found:
        rest = {name: value for name, value in answer.items() if name != "sentence"}
        words[answer["sentence"] - 1].append(rest)
    return [
        {"input": text, "prediction": [row["prediction"] for row in rows], "words": rows}
        for text, rows in zip(texts, words, strict=True)
    ]
