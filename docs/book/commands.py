"""The command line, as its own parsers describe it."""

import io
import os
from contextlib import redirect_stdout, suppress
from unittest.mock import patch

from book.text import escaped, fence
from chainrule.cli.main import COMMANDS, main

WIDTH = "88"
ONE_RECIPE = ("train", "digits-mlp")  # `train --help` lists recipes; the flags are a recipe's


def commands() -> str:
    """The page."""
    lines = ["# Command line\n", fence(help_of())]
    lines += ["Exit codes: 0 done, 1 a claim failed or a bug, 2 bad input, 130 interrupted.\n"]
    for name, what in COMMANDS.items():
        lines += [f"## chainrule {name}\n", f"{escaped(what.capitalize())}.\n"]
        lines.append(fence(help_of(name)))
    lines += [f"## chainrule {' '.join(ONE_RECIPE)}\n", fence(help_of(*ONE_RECIPE))]
    return "\n".join(lines)


def help_of(*words: str) -> str:
    """What --help prints."""
    out = io.StringIO()
    plain = {"COLUMNS": WIDTH, "NO_COLOR": "1", "TERM": "dumb"}
    with patch.dict(os.environ, plain), redirect_stdout(out), suppress(SystemExit):
        main([*words, "--help"])
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())
