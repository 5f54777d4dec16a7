"""`python -m campaign`: attack, print the table, and exit with 1 if an attempt failed."""

import argparse
import os
import shlex
import sys
import time
from pathlib import Path

from rich.console import Console
from rich.progress import track

from campaign.attacks import ATTACKS
from campaign.driver import attacked
from campaign.report import failures, record, table, write

SHOWN = 40  # failures on the screen


def main() -> int:
    options = arguments()
    kinds = options.only or list(ATTACKS)
    numbers = {kind: chosen(kind, options) for kind in kinds}
    total = sum(map(len, numbers.values()))
    console, began = Console(width=80, highlight=False), time.monotonic()
    steps = attacked(numbers, options.seed, options.workers)
    bar = Console(stderr=True)
    done = list(track(steps, "attacking", total, console=bar, disable=not bar.is_terminal))
    console.print(table(done))
    for attempt in failures(done)[:SHOWN]:
        again = f"--only {shlex.quote(attempt.kind)} --attempt {attempt.number}"
        console.print(f"{attempt.found.outcome}: {again} --seed {options.seed}", style="bold")
        console.print(f"  {attempt.found.detail[:600]}", markup=False)
    if options.attempt is not None:
        for attempt in done:
            console.print(f"{attempt.found.outcome}: {attempt.found.detail}", markup=False)
    if options.record:
        command = f"make campaign SIZE={options.size}"
        seconds = time.monotonic() - began
        write(options.record, record(done, command, options.seed, seconds))
    return 1 if failures(done) else 0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m campaign", description=__doc__)
    parser.add_argument("--size", choices=("small", "medium", "full"), default="medium")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", action="append", choices=list(ATTACKS), help="a kind of attack")
    parser.add_argument("--attempt", type=int, help="one attempt again")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--record", type=Path, help="write the counts to this file")
    return parser.parse_args()


def chosen(kind: str, options: argparse.Namespace) -> list[int]:
    """The numbers of the attempts of one kind."""
    if options.attempt is not None:
        return [options.attempt]
    attack = ATTACKS[kind]
    medium = max(attack.small, attack.full // 20)
    return list(range({"small": attack.small, "medium": medium, "full": attack.full}[options.size]))


if __name__ == "__main__":
    sys.exit(main())
