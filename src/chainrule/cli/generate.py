"""`chainrule generate RUN --prompt …`: generate text with a finished language model."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from chainrule.cli.options import parse
from chainrule.console.output import print_json
from chainrule.runs.run import Run


@dataclass(frozen=True)
class Generate:
    """Generate text with a finished language model."""

    run: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="RUN")]
    """The run folder."""
    prompt: str | None = None
    """Start of the text (default: a newline)."""
    length: int = 500
    """Number of tokens to generate."""
    temperature: float = 0.8
    """Below 1 sharpens the distribution; 0 always takes the most probable token."""
    top_k: int = 0
    """Sample from this many most probable tokens; 0: from all."""
    top_p: float = 1.0
    """Sample from the smallest set of these tokens with this total probability; 1: from all."""
    seed: int = 0
    """The same seed gives the same text."""
    json: bool = False
    """Print one JSON object instead of the text."""


def run(arguments: list[str]) -> int:
    form = parse(Generate, arguments, "generate", "Generate text with a finished language model.")
    text = Run.load(form.run).generate(
        form.prompt,
        form.length,
        temperature=form.temperature,
        top_k=form.top_k,
        top_p=form.top_p,
        seed=form.seed,
    )
    if form.json:
        print_json({"prompt": form.prompt, "text": text})
    else:
        print(text)
    return 0
