"""`chainrule bench [ROW …]`: time this library beside its peers, in a checkout of the project."""

import sys
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Annotated

import tyro

from chainrule.cli.options import parse
from chainrule.console.output import print_json
from chainrule.errors import InputError

SUITE = Path("benchmarks/suite")
RECORDED = Path("benchmarks/speed")


@dataclass(frozen=True)
class Bench:
    """What is timed, for how long, and where it is kept."""

    rows: Annotated[tuple[str, ...], tyro.conf.Positional] = ()
    """Names of rows; none: all."""
    list: bool = False
    """Only list the rows."""
    quick: bool = False
    """Few rounds: a first look, not a result."""
    limit: float = 20.0
    """Seconds of each case of a row, without the time in which its processes start."""
    peers: tuple[str, ...] = ()
    """Only peers whose name has one of these words, such as tuned."""
    cases: tuple[str, ...] = ()
    """Only cases whose name has one of these words; tiny: a case that only shows that all runs."""
    threads: int = 0
    """Threads of every contender; 0: one for each core."""
    against: Path | None = None
    """Another checkout of this project, whose library races too."""
    compare: Path | None = None
    """An earlier record, or a folder of them: show what became better or worse."""
    record: bool = False
    """Write to benchmarks/speed of this checkout."""
    resume: bool = False
    """Leave out rows whose record is of the present sources."""
    out: Path = Path("runs/bench")
    """Folder of the records, unless `record`."""
    json: bool = False
    """Print one JSON object instead of tables."""


def run(arguments: list[str]) -> int:
    about = "Time this library beside its peers: interleaved rounds, medians of ratios."
    options = parse(Bench, arguments, "bench", about)
    command = suite()
    if options.list:
        command.listing()
        return 0
    check(options)
    found = command.measure(
        command.Request(
            rows=options.rows,
            rules=command.rules(
                options.threads, options.limit, options.quick, options.peers, options.against
            ),
            folder=RECORDED if options.record else options.out,
            command=" ".join(["chainrule bench", *arguments]),
            cases=options.cases,
            resume=options.resume,
            old=options.compare,
            quiet=options.json,
        )
    )
    if options.json:
        print_json({each["row"]: each for each in found})
    return 0


def suite() -> ModuleType:
    """The suite belongs to a checkout of the project, with its rows."""
    if not SUITE.is_dir():
        raise InputError(
            f"`chainrule bench` runs the suite in {SUITE}/, which is not here; run it in the root "
            "of a checkout of the project"
        )
    sys.path.insert(0, str(Path.cwd()))
    return import_module("benchmarks.suite.command")


def check(options: Bench) -> None:
    """Refuse what cannot be measured."""
    if options.limit <= 0:
        raise InputError(f"`limit` must be above 0 seconds, got {options.limit:g}")
    if options.threads < 0:
        raise InputError(f"`threads` must be at least 0, got {options.threads}")
    if options.against is not None and not (options.against / "src/chainrule").is_dir():
        raise InputError(
            f"`against` must be another checkout of this project, got {options.against}"
        )
    if options.record and (options.quick or options.peers or options.cases or options.against):
        raise InputError("`record` takes whole rows: leave out quick, peers, cases and against")
