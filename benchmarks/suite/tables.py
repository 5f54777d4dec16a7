"""Tables of 80 columns: a row of the suite, and two runs compared."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text

Found = Mapping[str, Any]
UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"))
LONGEST = 26  # letters of a contender's name


def race_table(found: Found, case: Found) -> Table:
    """Contenders by their time; a ratio above 1 is a peer that takes longer than ours."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("contender", max_width=LONGEST)
    for column in ("time", "ratio", "95 %", "limit", "memory"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("agrees")
    for one in sorted(case["contenders"], key=lambda each: each["seconds"]):
        share = one.get("share_of_limit")
        table.add_row(
            Text(one["name"]),
            duration(one["seconds"]),
            *ratio_cells(one["ratio"]),
            "" if share is None else percent(share),
            f"{one['peak_mb']:,} MB",
            agreement(one["agrees"]),
        )
    return table


def title(found: Found, case: Found | None = None) -> Text:
    """What stands above a table."""
    if case is None:
        return Text(f"{found['title']}: by {found['axis']}", "bold")
    named = f" ({case['case']})" if case["case"] else ""
    return Text(f"{found['title']}{named}: {found['unit']}", "bold")


def ratio_cells(ratio: Sequence[float] | None) -> tuple[str, str]:
    """A ratio and its interval."""
    if ratio is None:
        return "", ""
    value, low, high = ratio
    return f"{times(value)} ×", "" if low == high else f"{times(low)} – {times(high)}"


def times(value: float) -> str:
    """Three digits at least two of which are behind the point, below ten."""
    return f"{value:.2f}" if value < 10 else f"{value:.3g}"


def percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.1 else f"{100 * share:.2g} %"


def duration(seconds: float) -> str:
    """Three digits in the unit that fits."""
    for size, unit in UNITS:
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}" if seconds < 1000 else f"{seconds:.0f} s"
    return f"{seconds / 1e-6:.3g} µs"


def agreement(agrees: bool | None) -> Text:
    if agrees is None:
        return Text("")
    return Text("yes", "green") if agrees else Text("NO", "bold red")


def remarks(case: Found) -> list[str]:
    """What stands below the table of a case."""
    lines = [f"skipped: {name} ({why})" for name, why in case["skipped"].items()]
    lines += [f"failed: {name} ({why})" for name, why in case["failed"].items()]
    return lines + [f"note: {text}" for text in case["disturbed"]]


def growth_table(found: Found) -> Table:
    """Slopes beside those that are expected."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("", max_width=LONGEST)
    for column in ("sizes", "longest", "slope", "expected", "memory", "slope", "expected"):
        table.add_column(column, justify="right", no_wrap=True)
    for line in found["lines"]:
        memory = line["memory_slope"]
        table.add_row(
            Text(line["name"]),
            f"{short(line['sizes'][0])} … {short(line['sizes'][-1])}",
            duration(line["seconds"][-1]),
            f"{line['slope']:.2f} ± {line['slope_error']:.2f}",
            f"{line['expected']:g}",
            f"{line['extra_mb'][-1]:,.0f} MB",
            "" if memory is None else f"{memory:.2f}",
            "" if line["expected_memory"] is None else f"{line['expected_memory']:g}",
        )
    return table


def short(size: int) -> str:
    """1,024 as it is, 65,536 as 66k."""
    for power, letter in ((1e6, "M"), (1e3, "k")):
        if size >= 10 * power:
            return f"{size / power:.3g}{letter}"
    return f"{size:,}"


def comparison_table(changes: Sequence[Found]) -> Table:
    """What became better or worse since another run."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("row")
    table.add_column("peer", max_width=LONGEST)
    for column in ("before", "now", "change", "95 %"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("")
    colors = {"gain": "green", "regression": "bold red"}
    for one in changes:
        name = f"{one['row']}, {one['case']}" if one["case"] else one["row"]
        table.add_row(
            Text(name),
            Text(one["peer"]),
            f"{times(one['before'])} ×",
            f"{times(one['now'])} ×",
            *ratio_cells(one["change"]),
            Text(one["verdict"], colors.get(one["verdict"], "")),
        )
    return table
