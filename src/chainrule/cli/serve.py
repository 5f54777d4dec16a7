"""`chainrule serve RUN`: a finished run as a prediction service."""

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import tyro

from chainrule.cli.options import parse
from chainrule.console.output import out
from chainrule.errors import InputError
from chainrule.runs.run import Run

NEEDED = ("starlette", "uvicorn")


@dataclass(frozen=True)
class Serve:
    """What is served, and where."""

    run: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="RUN")]
    """The run folder."""
    port: int = 0
    """Port to listen on; 0 takes a free one."""
    host: str = "127.0.0.1"
    """Address to listen on; another than loopback needs --token."""
    token: str = ""
    """Clients must send it as Authorization: Bearer TOKEN."""


def run(arguments: list[str]) -> int:
    options = parse(Serve, arguments, "serve", "Answer requests with a finished run.")
    if not 0 <= options.port < 2**16:
        raise InputError(f"`port` must be from 0 to 65535, got {options.port}")
    if any(find_spec(name) is None for name in NEEDED):
        raise InputError("the service needs further packages: pip install 'chainrule[serve]'")
    from chainrule.serve.launch import serve

    serve(Run.load(options.run), options.host, options.port, options.token, announce)
    return 0


def announce(address: str) -> None:
    out.print(
        f"Serving at  {address}   (POST {address}/predict; a page to try it is at /)\n"
        "Ctrl-C stops it.",
        soft_wrap=True,
    )
