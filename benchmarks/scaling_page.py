"""The picture and tables of `benchmarks/scaling.py`: efficiency of processes, and the check."""

from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from matplotlib.axes import Axes

from chainrule.plots.palette import QUIET
from chainrule.plots.style import canvas, color, in_percent, in_powers, marker, save, styled
from chainrule.training.cost_model import Network, Work, efficiency, most_useful

COUNTS = [2**i for i in range(11)]
NAMES = {
    "mlp": "MLP",
    "resnet20": "ResNet-20",
    "resnet50": "ResNet-50",
    "gpt": "GPT",
    "gpt2": "GPT-2",
}
TOKENS = {"gpt": " × 128", "gpt2": " × 128"}
BEGIN, END = "<!-- written by benchmarks/scaling.py -->", "<!-- end -->"
WORTH = 0.8  # efficiency
LINKS = {
    "1 Gbit/s, 100 µs": (1, 1e-4),
    "10 Gbit/s, 50 µs": (10, 5e-5),
    "100 Gbit/s, 10 µs": (100, 1e-5),
}


def links(result: dict[str, Any]) -> dict[str, Network]:
    """The networks of the curves, with the overhead and tax that were measured."""
    found = result["calibrated"]
    rest = {"overhead": found["overhead_of_loopback"], "tax": found["tax"]}
    return {
        name: Network(gigabits=gigabits, latency=latency, **rest)
        for name, (gigabits, latency) in LINKS.items()
    }


def work_of(row: dict[str, Any]) -> Work:
    """The compute of a step, as it was measured."""
    return Work(
        forward=row["forward"],
        backward=row["backward"],
        update=row["update"],
        buckets=tuple((share, size) for share, size in row["buckets"]),
        units=tuple(row["units"]),
    )


def drawn(result: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows that have curves."""
    return [row for row in result["compute"] if "bucket_mb" not in row]


def title(row: dict[str, Any]) -> str:
    return f"{NAMES[row['model']]}, batch {row['batch']}{TOKENS.get(row['model'], '')}"


@styled
def draw(result: dict[str, Any], path: Path) -> None:
    """A panel for each network, and one of predicted against measured times."""
    figure = canvas(15, 9)
    panels = figure.subplots(2, 3).flatten()
    for axes, row in zip(panels, drawn(result), strict=False):
        curves(axes, row, links(result))
    check(panels[5], result)
    handles, names = panels[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=3)
    save(figure, path)


def curves(axes: Axes, row: dict[str, Any], networks: dict[str, Network]) -> None:
    """Efficiency of one network: full lines for equal batches, dashed for one batch shared."""
    work = work_of(row)
    for i, (name, link) in enumerate(networks.items()):
        for strong, line in ((False, "-"), (True, "--")):
            counts = [k for k in COUNTS if not strong or k <= row["batch"]]
            shares = [efficiency(work, k, link, strong) for k in counts]
            label = f"{name}, {'one batch shared' if strong else 'a batch each'}"
            axes.plot(counts, shares, line, color=color(i), marker=marker(i), ms=4, label=label)
    axes.set_xscale("log", base=2)
    axes.set_xticks(COUNTS[::2], [f"{k:,}" for k in COUNTS[::2]])
    axes.set_ylim(0, 1.03)
    in_percent(axes.yaxis)
    millions = f"{row['parameters'] / 1e6:.3g} million parameters"
    axes.set_title(f"{title(row)}\n{millions}, {row['seconds']:.2g} s a step")
    axes.set_xlabel("processes")
    axes.set_ylabel("efficiency")


def check(axes: Axes, result: dict[str, Any]) -> None:
    """Predicted against measured seconds, within 15 % of each other between the lines."""
    kinds = {
        "steps with DDP": [row for row in result["steps"] if not row.get("sharded")],
        "steps with FSDP": [row for row in result["steps"] if row.get("sharded")],
        "collectives": result["collectives"],
    }
    for i, (name, rows) in enumerate(kinds.items()):
        seconds, predicted = ([row[key] for row in rows] for key in ("seconds", "predicted"))
        axes.plot(seconds, predicted, marker(i + 3), color=color(i + 3), ms=6, label=name)
    ends = axes.get_xlim()
    ends = (max(ends[0], 8e-4), ends[1] * 1.3)
    for share in (0.85, 1.0, 1.15):
        axes.plot(
            ends, [share * end for end in ends], color=QUIET, lw=1, ls="-" if share == 1 else ":"
        )
    axes.set_xscale("log")
    axes.set_yscale("log")
    in_powers(axes.xaxis)
    in_powers(axes.yaxis)
    axes.set_title("The check: 2, 4 and 8 processes\non emulated networks, ± 15 %")
    axes.set_xlabel("measured seconds")
    axes.set_ylabel("predicted seconds")
    axes.legend(loc="upper left")


def write(result: dict[str, Any], way: Callable[[dict[str, Any]], str], page: Path) -> None:
    """Put the tables between the marks of the page."""
    head, rest = page.read_text("utf-8").split(BEGIN)
    _, tail = rest.split(END)
    parts = [sources(result), worth(result), checked(result, way), rings(result)]
    page.write_text(head + BEGIN + "\n\n" + "\n\n".join(parts) + "\n\n" + END + tail, "utf-8")


def sources(result: dict[str, Any]) -> str:
    found = result["calibrated"]
    return (
        f"Measured {result['date']} with torch {result['torch']} on {result['machine']}, a thread "
        f"each, load average {result['load_before']:.1f} before and "
        f"{result['load_after']:.1f} after (two of them, or eight, are the measured processes). "
        f"Calibrated: {1e6 * found['overhead']:.0f} µs of software a hop on the emulated links and "
        f"{1e6 * found['overhead_of_loopback']:.0f} µs on loopback; a tax of "
        f"{1e9 * found['tax']:.2g} ns of a processor for each sent byte."
        f"{result.get('note', '')}"
    )


def worth(result: dict[str, Any]) -> str:
    """The largest number of processes that is worth it, and the fastest share of one batch."""
    head = f"| most processes at {100 * WORTH:.0f} % efficiency; best speed-up of one batch | "
    head += " | ".join(LINKS)
    lines = [head + " |", "|---|" + "---:|" * len(LINKS)]
    for row in drawn(result):
        work, found = work_of(row), []
        for link in links(result).values():
            each = most_useful(work, link, WORTH)
            counts = [k for k in COUNTS if k <= row["batch"]]
            speeds = {k: k * efficiency(work, k, link, strong=True) for k in counts}
            best = max(speeds, key=lambda k: speeds[k])
            found.append(f"{each:,}; {speeds[best]:.3g}× on {best}")
        lines.append(f"| {title(row)} | " + " | ".join(found) + " |")
    return "\n".join(lines)


def checked(result: dict[str, Any], way: Callable[[dict[str, Any]], str]) -> str:
    """Measured and predicted steps."""
    lines = ["| two processes | link | compute | measured | predicted | error |"]
    lines.append("|---|---|---:|---:|---:|---:|")
    for row in sorted(result["steps"], key=lambda row: (way(row), row["megabits"])):
        link = f"{row['megabits']:g} Mbit/s, {row['milliseconds']:g} ms"
        times = " | ".join(
            f"{1e3 * row[key]:.0f} ms" for key in ("compute", "seconds", "predicted")
        )
        lines.append(f"| {way(row)} | {link} | {times} | {100 * error(row):+.1f} % |")
    return "\n".join(lines) + "\n\n" + spread("Steps", result["steps"])


def rings(result: dict[str, Any]) -> str:
    rows = result["collectives"]
    bytes_off = max(
        abs(row["sent"] / row["predicted_sent"] - 1) for row in rows if row["bytes"] > 1e6
    )
    return spread("Collectives of 2, 4 and 8 processes", rows) + (
        f" The bytes that each process sent, counted by its network device, differ by at most "
        f"{100 * bytes_off:.1f} % from the formulas for a mebibyte and more."
    )


def spread(what: str, rows: list[dict[str, Any]]) -> str:
    errors = [abs(error(row)) for row in rows]
    near = sum(each <= 0.15 for each in errors)
    return (
        f"{what}: {near} of {len(rows)} predictions within 15 %, median error "
        f"{100 * median(errors):.1f} %, largest {100 * max(errors):.1f} %."
    )


def error(row: dict[str, Any]) -> float:
    return row["predicted"] / row["seconds"] - 1
