"""`chainrule generate RUN --prompt …`: let a finished language model write."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from chainrule.cli.options import parse
from chainrule.console.output import print_json
from chainrule.runs.generate import generate


@dataclass(frozen=True)
class Generate:
    """Let a finished language model write."""

    run: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="RUN")]
    """The run folder."""
    prompt: str | None = None
    """What the text begins with; a new line if none is given."""
    length: int = 500
    """Tokens to write after it."""
    temperature: float = 0.8
    """Below 1 the likely becomes likelier; 0 takes the likeliest each time."""
    top_k: int = 0
    """Draw among this many likeliest tokens only; 0: among all."""
    top_p: float = 1.0
    """Of these draw among the fewest that hold this share of the probability; 1: among all."""
    seed: int = 0
    """The same seed gives the same text."""
    json: bool = False
    """Print one JSON object instead of the text."""


def run(arguments: list[str]) -> int:
    form = parse(Generate, arguments, "generate", "Let a finished language model write.")
    text = generate(
        form.run, form.prompt, form.length, form.temperature, form.top_k, form.seed, form.top_p
    )
    if form.json:
        print_json({"prompt": form.prompt, "text": text})
    else:
        print(text)
    return 0
