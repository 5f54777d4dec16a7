"""Tables that fit 80 columns."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text

from chainrule.console.output import Format, number, plain

SPLITS = ("train", "validation", "test")
COSTS = ("parameters", "multiply_adds")
LONGEST = 27  # letters of a name in a list
DEFAULT = 16  # letters of a default in one line
NAME = 20  # letters of a layer's name in one line


def names_table(title: str, rows: Sequence[tuple[str, str]]) -> Table:
    """Names and what they are."""
    return chapters_table(title, {"": rows})


def chapters_table(title: str, chapters: Mapping[str, Sequence[tuple[str, str]]]) -> Table:
    """Names and what they are, chapter by chapter."""
    table = Table(title=title, box=box.SIMPLE_HEAD, title_justify="left", show_header=False)
    table.title_style = "bold"
    longest = max((len(name) for rows in chapters.values() for name, _ in rows), default=0)
    table.add_column("name", no_wrap=True, min_width=min(longest, LONGEST))
    table.add_column("what it is")
    for chapter, rows in chapters.items():
        if len(chapters) > 1:
            table.add_row("", Text(chapter, "italic"))
        for name, what in rows:
            table.add_row(Text(name, "bold"), Text(what.removeprefix("Claim: ")))
        table.add_section()
    return table


def facts_table(rows: Sequence[tuple[str, str]]) -> Table:
    """A thing's properties, one a line."""
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_column("what", style="bold", no_wrap=True)
    table.add_column("value")
    for name, value in rows:
        table.add_row(Text(name), Text(value))
    return table


def flags_table(rows: Sequence[tuple[str, str, str]]) -> Table:
    """Flags with their defaults and what they do."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1))
    table.add_column("flag", style="bold", no_wrap=True)
    table.add_column("default", max_width=DEFAULT, overflow="fold")
    table.add_column("")
    for row in rows:
        table.add_row(*map(Text, row))
    return table


def layers_table(layers: Sequence[Mapping[str, Any]], shown: Sequence[Mapping[str, Any]]) -> Table:
    """What each layer gives and costs; `shown` is the table of `layers` with some rows joined."""
    table = Table(box=box.SIMPLE_HEAD, show_footer=True)
    table.add_column("layer", "all", style="bold", overflow="fold")
    table.add_column("kind", f"{len(layers)} layer{'s' * (len(layers) != 1)}", overflow="fold")
    table.add_column("output", justify="right")
    for cost in COSTS:
        total = f"{sum(layer[cost] for layer in layers):,}"
        table.add_column(cost.replace("_", "-"), total, justify="right", no_wrap=True)
    for row in shown:
        output = "?" if row["output"] is None else "×".join(map(str, row["output"])) or "1"
        costs = (f"{row[cost]:,}" for cost in COSTS)
        table.add_row(Text(folded(row["name"]) or "(itself)"), row["kind"], output, *costs)
    return table


def folded(name: str) -> str:
    """The name of a layer; a long one is broken before a dot."""
    place = name.rfind(".", 0, NAME + 1)
    return name if len(name) <= NAME or place < 0 else f"{name[:place]}\n {name[place:]}"


def result_table(result: Mapping[str, Any], show: Format = plain) -> Table:
    """This run beside other methods on the same data and the published results."""
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("", no_wrap=True)
    for split in SPLITS:
        table.add_column(split, justify="right")
    _add_method(table, result["recipe"], result["metrics"], show)
    for name, metrics in result["compared"].items():
        _add_method(table, name, metrics, show)
    for published in result["published"]:
        split, _, metric = published["metric"].partition(" ")
        cells = [show(metric, published["value"]) if split == s else "" for s in SPLITS]
        table.add_row(Text(f"{metric} in {published['source']}", "italic"), *cells)
    return table


def _add_method(
    table: Table, name: str, metrics: Mapping[str, Mapping[str, float]], show: Format
) -> None:
    """One row per metric; the method's name heads them."""
    table.add_row(Text(name, "bold"))
    measured = list(dict.fromkeys(metric for split in metrics.values() for metric in split))
    for metric in measured:
        cells = (
            show(metric, metrics[s][metric]) if metric in metrics.get(s, {}) else "" for s in SPLITS
        )
        table.add_row(f"  {metric}", *cells)
    table.add_section()


def runs_table(runs: Sequence[Mapping[str, Any]], show: Format) -> Table:
    """One row per run folder."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for column in ("run", "recipe", "state"):
        table.add_column(column, overflow="fold")
    table.add_column("metric", justify="right", overflow="fold")
    table.add_column("seconds", justify="right", no_wrap=True)
    table.add_column("begun", no_wrap=True)
    for run in runs:
        value = f"{run['metric']} {show(run['metric'], run['value'])}" if run["metric"] else "–"
        cells = (run["name"], run["recipe"], run["state"], value, f"{run['seconds']:.1f}")
        table.add_row(*map(Text, (*cells, run["date"].partition(" ")[0])))
    return table


def comparison_table(
    names: Sequence[str],
    settings: Mapping[str, Sequence[Any]],
    metrics: Mapping[str, Sequence[float | None]],
    show: Format,
) -> Table:
    """A column per run: the settings in which they differ, then the metrics."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("", style="bold", overflow="fold")
    for name in names:
        table.add_column(Text(name), justify="right", overflow="fold")
    for setting, values in settings.items():
        table.add_row(setting.replace("_", " "), *(Text(_setting(value)) for value in values))
    table.add_section()
    for metric, found in metrics.items():
        table.add_row(metric, *(show(metric, value) for value in found))
    return table


def _setting(value: Any) -> str:
    if isinstance(value, list | tuple):
        return " ".join(map(str, value))
    return "–" if value in (None, "") else str(value)


def predictions_table(rows: Sequence[Mapping[str, str]]) -> Table:
    """One row per example."""
    table = Table(box=box.SIMPLE_HEAD)
    for column in rows[0]:
        table.add_column(column, justify="left" if column == "input" else "right")
    for row in rows:
        table.add_row(*map(Text, row.values()))
    return table


def verdict_table(verdicts: Mapping[str, Mapping[str, Any]], heading: str = "claim") -> Table:
    """Measured values beside their bounds, and what failed."""
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column(heading, no_wrap=True)
    table.add_column("quantity")
    table.add_column("measured", justify="right", no_wrap=True)
    table.add_column("bound", no_wrap=True)
    table.add_column("", no_wrap=True)
    for name, verdict in verdicts.items():
        measured, bound = side_by_side(verdict["measured"], verdict["bound"])
        holds = Text("holds", "green") if verdict["holds"] else Text("FAILS", "bold red")
        quantity = Text("\n".join([verdict["quantity"], *_failures(verdict)]))
        table.add_row(name, quantity, measured, f"{verdict['relation']} {bound}", holds)
    return table


def mutation_table(claims: Mapping[str, Mapping[str, Any]]) -> Table:
    """What each claim measures under its near violations, and whether it detects them."""
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("violation")
    table.add_column("measured", justify="right", no_wrap=True)
    table.add_column("bound", no_wrap=True)
    table.add_column("detected", no_wrap=True)
    for claim, found in claims.items():
        table.add_row(Text(claim, "bold"))
        if "measured" in found:
            _add_mutation(table, "as stated", found, Text(""))
        for name, row in found["near"].items():
            detected = Text("yes", "green") if row["detected"] else Text("NO", "bold red")
            _add_mutation(table, name, row, detected)
        table.add_section()
    return table


def _add_mutation(table: Table, name: str, row: Mapping[str, Any], detected: Text) -> None:
    measured, bound = side_by_side(row["measured"], row["bound"])
    failed = [f"\n    not: {text}" for text in row.get("failed", ())]
    table.add_row(
        Text("".join([f"  {name}", *failed])), measured, f"{row['relation']} {bound}", detected
    )


def side_by_side(*values: float) -> list[str]:
    """Numbers to be compared: where rounding would print 1 < 1, as 1 - 2e-13 and 1."""
    short = [number(value) for value in values]
    if len(set(short)) == len(set(values)):
        return short
    return [exactly(text, value) for text, value in zip(short, values, strict=True)]


def exactly(text: str, value: float) -> str:
    """A rounded number with what rounding took away."""
    rest = value - float(text)
    return f"{text} {'+' if rest > 0 else '-'} {abs(rest):.0e}" if rest else text


def _failures(verdict: Mapping[str, Any]) -> list[str]:
    """Conditions that are not true, and seeds that failed if there were several."""
    failed = [f"not: {text}" for text, true in verdict["conditions"].items() if not true]
    if verdict.get("seeds", 1) > 1 and verdict["failed"]:
        failed.append(f"fails for seeds {', '.join(map(str, verdict['failed']))}")
    return failed
