"""Tables of the guides, from what was recorded; `write_tables.py` puts them into their pages."""

import json
import math
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
Found = dict[str, Any]
KINDS = {
    "arrays": "two `.npy` arrays, MLP",
    "table": "Parquet, MLP",
    "tokens": "ten shards of tokens, GPT",
    "text": "a text, GPT",
}


def recorded(name: str) -> Found:
    return dict(json.loads((ROOT / f"benchmarks/{name}.json").read_text("utf-8")))


def table(head: str, rows: list[list[str]]) -> str:
    """Rows below a head, whose cells are divided by |."""
    lines = [f"| {head} |", "|---" * (head.count(" | ") + 1) + "|"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)]) + "\n"


def images() -> str:
    """A folder of pictures: reading, memory, accuracy."""
    found = recorded("image_folder")
    rows = [
        [
            f"{row['pictures']:,}",
            f"{row['first reading s']:.3g} s",
            f"{row['cached reading s']:.2g} s",
            str(row["epochs"]),
            f"{row['anonymous MB']:,} MB",
            f"{max(epoch['in use MB'] for epoch in row['by epoch'])} MB",
            f"{100 * row['test accuracy']:.1f} %",
        ]
        for row in found["rows"]
    ]
    head = "pictures | first reading | cached reading | epochs | largest anonymous memory | "
    where = f"`{found['command']}`, seed 0, {found['date']}, {found['machine']}."
    return table(f"{head}in use by the heap | test accuracy", rows) + f"\n{where}\n"


def out_of_core() -> str:
    """Large files: rate and memory, and a small file beside the same rows in memory."""
    found = recorded("out_of_core")
    rows = []
    for row in found["rows"]:
        limit = f"{row['limit GB']:g} GB" if "limit GB" in row else "none"
        disk, memory = (row.get(f"small file, {k} a second") for k in ("from disk", "in memory"))
        ratios = ("rate ratio", "rate ratio by processor time of the training thread")
        rows.append(
            [
                KINDS[row["kind"]],
                f"{row['file GB']:.1f} GB",
                f"{100 * row['of them trained on'] / row['examples']:.0f} %",
                f"{row['a second']:,}",
                f"{row['anonymous MB'] / 1000:.2f} GB",
                limit,
                f"{disk:,} and {memory:,}" if disk else "not run",
                " and ".join(f"{row[name]:.2f}" for name in ratios) if disk else "not run",
            ]
        )
    head = (
        "data | file | of an epoch | rows or tokens a second | own memory | limit with all cached"
    )
    head += " pages | small file: a second from the disk, in memory | ratio: by the clock, by "
    head += "processor time of the thread that trains"
    where = f"{found['network']}. `python benchmarks/out_of_core.py --work FOLDER` (flags in its "
    dates = " and ".join(sorted({row["date"] for row in found["rows"]}))
    where += f"record), {dates}, {found['machine']}."
    return table(head, rows) + f"\n{where}\n"


def compared_tables() -> str:
    """`train mlp` beside boosting and the perceptron of scikit-learn."""
    found = recorded("tables")
    methods = ("train mlp", "HistGradientBoosting", "scikit-learn MLP")
    rows, times = [], []
    for name, each in found["tables"].items():
        shared = each["methods"]["train mlp"]
        for measure in ("log_loss", "error") if "log_loss" in shared else ("rmse",):
            values = [each["methods"][method][measure] for method in methods]
            shown = measure.replace("_", " ")
            rows.append([name, f"{each['rows']:,}", shown, *(spread(measure, v) for v in values)])
        spent = [each["methods"][method]["processor_seconds"][0] for method in methods]
        times.append(spent[0] / spent[1])
    head = "table | rows | measure | `train mlp` | HistGradientBoosting | MLP of scikit-learn"
    told = f"`train mlp` takes {min(times):.0f} to {max(times):.0f} times the processor time of "
    told += f"boosting. `python benchmarks/tables.py --data FOLDER`, {found['folds']} folds, "
    told += f"{len(found['seeds'])} seeds, {found['date']}, {found['processor']}, one thread."
    return table(head, rows) + f"\n{told}\n"


def spread(measure: str, value: list[float]) -> str:
    """Mean ± deviation, with as many digits as the measure is read with."""
    mean, deviation = value
    if measure == "error":
        return f"{100 * mean:.2f} ± {100 * deviation:.2f} %"
    digits = 4 if measure == "log_loss" else max(0, 2 - math.floor(math.log10(mean)))
    return f"{mean:.{digits}f} ± {deviation:.{digits}f}"


def transfer() -> str:
    """Test errors by the number of labels."""
    found = recorded("transfer")
    ways = ("from scratch", "fine-tuned", "frozen convolutions")
    errors = {
        (row["labels per class"], row["way"]): row
        for row in found["rows"]
        if "labels per class" in row
    }
    rows = [
        [f"{number:,}", *(spread("error", pair(errors[number, way])) for way in ways)]
        for number in dict.fromkeys(number for number, _ in errors)
    ]
    where = f"`{found['command']}`, {len(found['seeds'])} draws, {found['date']}, "
    where += f"{found['machine']}."
    return table(f"labels per class | {' | '.join(ways)}", rows) + f"\n{where}\n"


def pair(row: Found) -> list[float]:
    return [row["test error"], row["standard deviation"]]


def own_data() -> str:
    """Files of every kind, by the command line alone."""
    if not (ROOT / "benchmarks/own_data.json").exists():
        return "Not recorded yet.\n"
    cases = recorded("own_data")["cases"].values()
    rows = [
        [
            case["data"],
            f"`{case['command'].removeprefix('chainrule train ')}`",
            main_figure(case["metrics"]),
            f"{case['seconds']:,.0f} s",
        ]
        for case in cases
    ]
    first, *_, last = sorted(case["date"] for case in (*cases, *cases))
    where = "`python benchmarks/own_data.py --data FOLDER`, " + (
        first if first == last else f"{first} to {last}"
    )
    machine = next(iter(cases))["machine"]
    head = "data | `chainrule train` | test split | with start and report"
    return table(head, rows) + f"\n{where}, {machine}.\n"


def main_figure(metrics: dict[str, float]) -> str:
    """What a reader looks at first."""
    if "error" in metrics:
        return f"{100 * (1 - metrics['error']):.1f} % right"
    if "accuracy" in metrics:
        return f"{100 * metrics['accuracy']:.1f} % right"
    if "coverage" in metrics:
        inside = f"{100 * metrics['coverage']:.0f} % inside the band"
        return f"loss {metrics['loss']:.3f}, r² {metrics['r2']:.3f}, {inside}"
    return f"r² {metrics['r2']:.3f}"


TABLES = {
    "images": images,
    "out-of-core": out_of_core,
    "tables": compared_tables,
    "transfer": transfer,
    "own-data": own_data,
}
