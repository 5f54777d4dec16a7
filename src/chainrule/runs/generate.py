"""A finished language model writes: what `chainrule generate` does."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

import torch
from torch import Tensor

from chainrule.data.readers.encoders import encoder_from_json
from chainrule.data.text.vocabulary import UNKNOWN, Vocabulary
from chainrule.errors import InputError
from chainrule.runs.run import open_model, read_json

MOST = 1_000_000  # tokens in one go
LISTED = 100  # characters of a vocabulary that an error names


@runtime_checkable
class Writer(Protocol):
    """A language model: it draws tokens that follow a prompt."""

    def write(
        self,
        prompt: Tensor,
        number: int,
        temperature: float = 1.0,
        top_k: int = 0,
        generator: torch.Generator | None = None,
        top_p: float = 1.0,
        never: Sequence[int] = (),
    ) -> Tensor: ...


def generate(
    folder: Path,
    prompt: str | None,
    length: int,
    temperature: float,
    top_k: int,
    seed: int,
    top_p: float = 1.0,
) -> str:
    """The prompt and as many tokens after it, by the model of a finished run.

    Without a prompt, a new line, or the first token of a text that has none.
    """
    _, model, _ = open_model(folder)
    state = read_json(folder / "task.json")["encoder"]
    vocabulary = encoder_from_json(state) if state else None
    if not isinstance(model, Writer) or not isinstance(vocabulary, Vocabulary):
        raise InputError(
            f"the run in {folder} does not write text; expected that of a language model, such as "
            "chainrule train shakespeare-gpt"
        )
    if not 1 <= length <= MOST:
        raise InputError(f"--length must be from 1 to {MOST}, got {length}")
    if not 0 <= seed < 2**63:
        raise InputError(f"--seed must be from 0 to below 2⁶³, got {seed}")
    if not (math.isfinite(temperature) and temperature >= 0 and top_k >= 0):
        raise InputError(
            "--temperature and --top-k must be 0 or more, got "
            f"{temperature:g} and {top_k}; temperature 0 takes the likeliest"
        )
    if not 0 < top_p <= 1:
        raise InputError(f"--top-p must be above 0 and at most 1, got {top_p:g}; 1 leaves none out")
    prompt = beginning(vocabulary) if prompt is None else prompt
    check_prompt(prompt, vocabulary)
    return written(model, vocabulary, prompt, length, temperature, top_k, seed, top_p)


def beginning(vocabulary: Vocabulary) -> str:
    """A new line, or the first token of a text that has none."""
    return "\n" if "\n" in vocabulary.token_to_id else vocabulary.tokens[len(vocabulary.special_tokens)]


def check_prompt(prompt: str, vocabulary: Vocabulary) -> None:
    """Something to go on from, of tokens that the model has seen."""
    found = vocabulary.encode(prompt)
    if not found:
        raise InputError("the prompt is empty; expected at least one token to go on from")
    if vocabulary.unit == "character" and UNKNOWN in found:
        strange = sorted({c for c in prompt if c not in vocabulary.token_to_id})
        known = "".join(vocabulary.tokens[len(vocabulary.special_tokens) :]).strip()
        raise InputError(
            f"the prompt holds {', '.join(map(repr, strange))}, which the model has never seen; "
            f"it knows {known[:LISTED]}{' …' * (len(known) > LISTED)}"
        )


def written(
    model: Writer,
    vocabulary: Vocabulary,
    prompt: str,
    length: int,
    temperature: float = 1.0,
    top_k: int = 0,
    seed: int = 0,
    top_p: float = 1.0,
) -> str:
    """The prompt and what the model writes after it; the same seed gives the same text."""
    generator = torch.Generator().manual_seed(seed)
    tokens = torch.tensor(vocabulary.encode(prompt))
    never = range(len(vocabulary.special_tokens))
    found = model.write(tokens, length, temperature, top_k, generator, top_p, never)
    space = "" if vocabulary.unit == "character" else " "
    return prompt + space + vocabulary.decode(found.tolist())
