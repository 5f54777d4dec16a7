"""`chainrule studio`: the whole course, live in the browser."""

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from chainrule.cli.options import parse
from chainrule.console.output import out
from chainrule.errors import InputError

NEEDED = ("starlette", "uvicorn", "websockets", "uplot")


@dataclass(frozen=True)
class Studio:
    """Where the page is served."""

    port: int = 0
    """Port of the page; 0 takes a free one."""
    host: str = "127.0.0.1"
    """Address to listen on; another than loopback needs --token."""
    token: str = ""
    """What opens the page, in its address; by default a new one at every start."""
    runs: Path = Path("runs")
    """The folder of the runs."""
    no_browser: bool = False
    """Print the address, and open no browser."""


def run(arguments: list[str]) -> int:
    options = parse(Studio, arguments, "studio", "The whole course, live in the browser.")
    if not 0 <= options.port < 2**16:
        raise InputError(f"`port` must be from 0 to 65535, got {options.port}")
    if any(find_spec(name) is None for name in NEEDED):
        raise InputError("the studio needs further packages: pip install 'chainrule[studio]'")
    from chainrule.studio.launch import serve

    serve(options.host, options.port, options.token, options.runs, announce, not options.no_browser)
    return 0


def announce(address: str) -> None:
    out.print(f"The studio is open at  {address}\nCtrl-C closes it.", soft_wrap=True)
