"""What a row found, as JSON: benchmarks/speed/ROW.json holds the recorded runs."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchmarks.suite import machine, sources
from benchmarks.suite.contract import Growth, Race, Work, ours, sizes_of
from benchmarks.suite.limits import floor
from benchmarks.suite.process import ROOT
from benchmarks.suite.race import Raced, Runner, summary
from benchmarks.suite.statistics import median_interval, ratios
from chainrule.registry import Entry
from chainrule.training.files import replace

RECORDED = ROOT / "benchmarks" / "speed"
KINDS = "race", "growth"
Found = dict[str, Any]


def raced(entry: Entry, row: Race, cases: list[Raced], command: str, threads: int) -> Found:
    """All of a race."""
    runners = [runner for case in cases for runner in case.runners]
    used = {name for runner in runners for name in runner.sources}
    return heading(entry, row, command, threads, used) | {
        "kind": "race",
        "unit": row.unit,
        "ours": ours(row),
        "quality": row.quality.what if row.quality else "",
        "cases": [of_case(row, case) for case in cases],
    }


def heading(
    entry: Entry, row: Race | Growth, command: str, threads: int, used: Iterable[str]
) -> Found:
    """What every record begins with."""
    rest = [sources.WHOLE] if row.starts_processes else sorted(used)
    return {
        "row": entry.name,
        "title": entry.title,
        "command": command,
        "machine": machine.facts(threads),
        "versions": machine.versions(needed(row)),
        "sources": rest,
        "digest": sources.digest(entry.path, rest),
    }


def needed(row: Race | Growth) -> set[str]:
    """Packages of all peers."""
    entered = row.contenders if isinstance(row, Race) else row.lines
    return {name for each in entered.values() for name in each.needs}


def current(entry: Entry, row: Race | Growth, found: Found) -> bool:
    """Whether a record is of the present sources and of the peers that are installed now."""
    try:
        same = found["digest"] == sources.digest(entry.path, found["sources"])
        return same and found["versions"] == machine.versions(needed(row))
    except KeyError:
        return False


def of_case(row: Race, case: Raced) -> Found:
    """Ratios with their intervals, quality, memory, and the share of what the machine could do."""
    sizes = dict(sizes_of(row, case.case))
    own = case.runners[0]
    about = summary(case)
    work = row.work(**sizes) if row.work else None
    contenders = [
        of_runner(row, runner, own) | share(runner, work, about["limits"])
        for runner in case.runners
        if runner.seconds
    ]
    failed = {runner.name: runner.failed for runner in case.runners if runner.failed}
    return {
        "case": case.case,
        "sizes": sizes,
        "work": work._asdict() if work else None,
        **about,
        "contenders": contenders,
        "skipped": case.skipped,
        "failed": failed,
    }


def of_runner(row: Race, runner: Runner, own: Runner) -> Found:
    """One contender beside ours."""
    ratio = median_interval(ratios(runner.seconds, own.seconds)) if own.seconds else None
    time = median_interval(runner.seconds)
    return {
        "name": runner.name,
        "seconds": rounded(time.value),
        "seconds_interval": [rounded(time.low), rounded(time.high)],
        "ratio": [rounded(value) for value in ratio] if ratio else None,
        "rounds": len(runner.seconds),
        "quality": [rounded(value) for value in runner.quality],
        "agrees": agreement(row, runner, own),
        "parameters": runner.parameters,
        "peak_mb": round(runner.peak / 2**20),
    }


def agreement(row: Race, runner: Runner, own: Runner) -> bool | None:
    """Whether it learned as much as ours with as many parameters; nothing where nobody looked."""
    counts = {runner.parameters, own.parameters} - {None}
    if len(counts) > 1:
        return False
    if row.quality is None or not runner.quality or not own.quality:
        return None
    mean, other = (sum(r.quality) / len(r.quality) for r in (runner, own))
    return row.quality.agrees(mean, other)


def share(runner: Runner, work: Work | None, limits: dict[str, float]) -> Found:
    """The least time for the work as a share of the time taken, and what binds."""
    if work is None or not limits or not (work.flops or work.bytes):
        return {}
    least, binding = floor(work, limits, runner.contender.precision)
    return {
        "share_of_limit": rounded(least / median_interval(runner.seconds).value),
        "limit": binding,
    }


def rounded(value: float) -> float:
    """Four digits."""
    return float(f"{value:.4g}")


def write(folder: Path, found: Found) -> Path:
    """The record as a file, whole or not at all."""
    path = folder / f"{found['row']}.json"
    folder.mkdir(parents=True, exist_ok=True)
    replace(path, (json.dumps(found, indent=1, ensure_ascii=False) + "\n").encode())
    return path


def read(folder: Path, name: str) -> Found | None:
    """The record of a row, if there is one."""
    return content(folder / f"{name}.json")


def content(path: Path) -> Found | None:
    """The record in a file; nothing where there is none, or where it is of something else."""
    try:
        found = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) and found.get("kind") in KINDS else None
