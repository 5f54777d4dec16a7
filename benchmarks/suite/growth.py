"""Growth: the time and memory of one thing by its size, each size in a process of its own."""

from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.suite import machine, record
from benchmarks.suite.contract import Growth, Line
from benchmarks.suite.process import ROOT, Failed, Process
from benchmarks.suite.race import Rules, Say
from benchmarks.suite.statistics import slope
from chainrule.registry import Entry

UNITS = 9  # at most, of each size; the median counts
LEAST_UNITS = 3


def grow(entry: Entry, row: Growth, rules: Rules, command: str, say: Say) -> dict[str, Any]:
    """All lines of a row; the time is shared between their sizes."""
    points = sum(len(line.sizes) for line in row.lines.values())
    seconds = rules.seconds / points
    lines, skipped = [], {}
    used: set[str] = set()
    for name, line in row.lines.items():
        if absent := machine.missing(line.needs):
            skipped[name] = f"{' and '.join(absent)} not installed"
            continue
        measured = []
        for size in line.sizes:
            say(f"{name}, {size:,}")
            measured.append(one_size(entry.name, name, line, size, rules.threads, seconds))
            if measured[-1] is None:
                break
            used.update(measured[-1].pop("sources"))
        lines.append(of_line(name, line, [found for found in measured if found]))
    about = record.heading(entry, row, command, rules.threads, used)
    return about | {"kind": "growth", "axis": row.axis, "lines": lines, "skipped": skipped}


def one_size(
    row: str, name: str, line: Line, size: int, threads: int, seconds: float
) -> dict[str, Any] | None:
    """Median seconds of a unit and the bytes that it needs beyond a small one's process."""
    source: Path = ROOT / "src"
    process = Process(
        row, str(size), name, threads=threads, environment=line.environment, source=source
    )
    try:
        process.answer()
        times: list[float] = []
        process.told("unit")
        while len(times) < UNITS and (len(times) < LEAST_UNITS or sum(times) < seconds):
            times.append(process.told("unit")["seconds"])
        found = process.stop()
    except Failed:
        return None
    finally:
        process.kill()
    extra = found["peak_bytes"] - found["base_bytes"]
    return {
        "size": size,
        "seconds": median(times),
        "extra": max(extra, 0),
        "units": len(times),
        "sources": found["sources"],
    }


def of_line(name: str, line: Line, measured: list[dict[str, float]]) -> dict[str, Any]:
    """The fitted slopes beside the expected ones."""
    sizes = [int(found["size"]) for found in measured]
    seconds = [found["seconds"] for found in measured]
    extra = [found["extra"] / 2**20 for found in measured]
    fitted, error = slope(sizes, seconds) if len(sizes) > 1 else (float("nan"), 0.0)
    grown = min(extra[len(extra) // 2 :], default=0.0) > 1  # below a megabyte it says nothing
    return {
        "name": name,
        "sizes": sizes,
        "seconds": [record.rounded(value) for value in seconds],
        "extra_mb": [round(value, 1) for value in extra],
        "slope": round(fitted, 3),
        "slope_error": round(error, 3),
        "expected": line.expected,
        "memory_slope": round(slope(sizes, extra)[0], 3) if grown and len(sizes) > 1 else None,
        "expected_memory": line.expected_memory,
        "failed_at": line.sizes[len(sizes)] if len(sizes) < len(line.sizes) else None,
    }
