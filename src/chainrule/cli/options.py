"""Flags shared by several commands, and how flags are parsed."""

import gc
import re
from collections.abc import Callable, Collection, Sequence
from contextlib import redirect_stderr
from dataclasses import MISSING, dataclass, fields, is_dataclass, make_dataclass
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import tyro

from chainrule.cli.words import SPELLED, as_words, check, slots
from chainrule.errors import InputError

if TYPE_CHECKING:
    from chainrule.runs.configuration import Configuration, Flag
    from chainrule.runs.recipe import BaseRecipe

T = TypeVar("T")
CONFIG: tuple[Any, ...] = (tyro.conf.OmitArgPrefixes, tyro.conf.FlagCreatePairsOff)
MUST_BE = " must be "
NAMES = re.compile(
    rf"`(?P<quoted>[^`]+)`|(?<![\w/.-])(?P<name>[a-z]\w*)(?![\w=/.-])(?P<subject>(?={MUST_BE}))?"
)
WORDS = re.compile(r"[^\s│╭╮╰╯─]+")  # of a message in a frame
PARSED: set[str] = set()  # names of the flags of the command that runs


@dataclass(frozen=True)
class Output:
    """What is printed."""

    json: bool = False
    """Print one JSON object instead of tables."""
    quiet: bool = False
    """Print no progress and no tables."""


@dataclass(frozen=True)
class Place(Output):
    """Data, device and pictures of a run."""

    device: str = "auto"
    """cpu, cuda, mps, or auto for the best one present."""
    data: Path | None = None
    """Folder of the data sets (default: $CHAINRULE_DATA, else the user's cache)."""
    no_pictures: bool = False
    """Draw no pictures of the result."""


@dataclass(frozen=True)
class Parallel(Place):
    """How the processes of a run share it."""

    sharded: bool = False
    """Each process holds a part of the parameters only, so that a larger model fits."""
    elastic: int = 0
    """How often the processes are started again, from the last checkpoint, when one is lost."""


def parse(form: Callable[..., T], arguments: list[str], command: str, description: str) -> T:
    """Fill in the form from the flags; words that do not fit are refused in one sentence."""
    PARSED.clear()
    note(form)
    check(arguments, list(slots(form)), command)
    prog, box = f"chainrule {command}", StringIO()
    try:
        with redirect_stderr(box):
            filled = tyro.cli(
                form, args=arguments, prog=prog, description=description, config=CONFIG
            )
    except SystemExit as left:
        if not left.code:  # --help
            raise
        said = " ".join(WORDS.findall(box.getvalue()))
        raise InputError(f"{prog} cannot use these words: {said}") from None
    if not gc.isenabled():  # what is imported by now stays; no later collection looks at it
        gc.freeze()
        gc.enable()
    return filled


def note(form: Any) -> None:
    """Remember the names of a form's flags, for messages."""
    if is_dataclass(form):
        for field in fields(form):
            PARSED.add(field.name)
            note(field.type)


def parse_recipe(
    kind: "type[BaseRecipe]",
    options: type[T],
    arguments: list[str],
    command: str,
    description: str,
    without: Sequence[str] = (),
) -> "tuple[Configuration, T]":
    """A recipe and the options of a command, from flags.

    Args:
        kind: the recipe's class.
        options: a dataclass of the command's own flags.
        arguments: the words after the recipe's name.
        command: for the usage line.
        description: for the help page.
        without: settings that this command has no flag for.
    """
    from chainrule.runs.configuration import configure, flags, refuse_unsupported
    from chainrule.runs.options import OPTION_OF
    from chainrule.training import Settings

    known = [flag for flag in flags(kind) if flag.name not in without]
    for name in (*OPTION_OF, *(field.name for field in fields(Settings))):
        if any(word.partition("=")[0].replace("_", "-") == as_words(name) for word in arguments):
            refuse_unsupported(kind, command.split()[-1], name)
    names = [flag.name for flag in known]
    settings = make_dataclass("settings", [as_field(flag, names) for flag in known], kw_only=True)
    form = make_dataclass("form", [("settings", settings), ("options", options)])
    filled: Any = parse(form, arguments, command, description)
    values = vars(filled.settings)
    return configure(kind, {flag.name: values[flag.name] for flag in known}), filled.options


def as_field(flag: "Flag", names: Collection[str]) -> tuple[str, Any, Any]:
    """A setting as a field that the parser understands; names: of all flags, for the help text."""
    from dataclasses import field

    plain = str if callable(flag.default) or "Callable" in str(flag.type) else flag.type
    spelled = tyro.conf.arg(help=as_flags(flag.help, names), name=SPELLED.get(flag.name))
    default = {} if flag.default is MISSING else {"default": flag.default}
    return flag.name, Annotated[plain, spelled], field(**default)


def as_flags(message: str, names: Collection[str] = PARSED) -> str:
    """A message with `batch_size` written as --batch-size where that is one of the names.

    So is a bare name in a sentence such as "batch_size must be at least 1". Other words in
    backticks lose them. By default the names are the flags of the running command.
    """
    bare = MUST_BE in message

    def flag(match: re.Match[str]) -> str:
        name = match["quoted"] or match["name"]
        wanted = match["quoted"] or (bare and ("_" in name or match["subject"] is not None))
        return as_words(name) if name in names and wanted else name

    return NAMES.sub(flag, message)
