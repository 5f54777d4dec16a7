"""What a campaign found: a table of 80 columns, the failures, and a record."""

import json
import os
import platform
from collections import Counter
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

from rich import box
from rich.table import Table

from campaign.attempt import GOOD, Outcome
from campaign.driver import Attempt

KEPT = 100  # failures that a record tells in full


def counts(attempts: Sequence[Attempt]) -> dict[str, Counter[Outcome]]:
    """How often each kind had each outcome."""
    kinds = dict.fromkeys(attempt.kind for attempt in attempts)
    return {k: Counter(a.found.outcome for a in attempts if a.kind == k) for k in kinds}


def failures(attempts: Sequence[Attempt]) -> list[Attempt]:
    """The attempts that ended as none may end, in a fixed order."""
    return sorted(a for a in attempts if a.found.outcome not in GOOD)


def table(attempts: Sequence[Attempt]) -> Table:
    """One row for each kind of attack."""
    found = counts(attempts)
    shown = Table(box=box.SIMPLE_HEAD, show_footer=True, padding=(0, 1))
    total = sum(found.values(), Counter[Outcome]())
    shown.add_column("attack", "all", no_wrap=True)
    shown.add_column("attempts", f"{total.total():,}", justify="right")
    for outcome in GOOD:
        shown.add_column(outcome, f"{total[outcome]:,}", justify="right")
    bad = sum(number for outcome, number in total.items() if outcome not in GOOD)
    shown.add_column("failures", f"{bad:,}", justify="right")
    for kind, by in found.items():
        told = [f"{number} {o}" for o, number in sorted(by.items()) if o not in GOOD]
        cells = [f"{by.total():,}", *(f"{by[outcome]:,}" for outcome in GOOD)]
        shown.add_row(kind, *cells, "\n".join(told) or "0")
    return shown


def record(attempts: Sequence[Attempt], command: str, seed: int, seconds: float) -> dict[str, Any]:
    """Everything that repeats and describes a campaign, as plain values."""
    return {
        "command": command,
        "seed": seed,
        "date": str(date.today()),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, {platform.system()}",
        "python": platform.python_version(),
        "seconds": round(seconds),
        "attempts": len(attempts),
        "failures": len(failures(attempts)),
        "kinds": {
            kind: {"attempts": by.total(), **{str(o): n for o, n in sorted(by.items())}}
            for kind, by in counts(attempts).items()
        },
        "failed": [
            {"kind": a.kind, "attempt": a.number, **a.found._asdict()}
            for a in failures(attempts)[:KEPT]
        ],
    }


def write(path: Path, content: dict[str, Any]) -> None:
    """Write a record; kinds that were attacked before and not now keep their rows."""
    if path.is_file():
        before = json.loads(path.read_text("utf-8"))
        kept = {kind: by for kind, by in before["kinds"].items() if kind not in content["kinds"]}
        failed = [f for f in before["failed"] if f["kind"] in kept]
        content = content | {
            "seconds": content["seconds"] + (before["seconds"] if kept else 0),
            "attempts": content["attempts"] + sum(by["attempts"] for by in kept.values()),
            "failures": content["failures"] + len(failed),
            "kinds": kept | content["kinds"],
            "failed": failed + content["failed"],
        }
    text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
    path.write_text(text, "utf-8", "backslashreplace")
