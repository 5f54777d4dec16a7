"""The tables of docs/guides/many-machines.md, from benchmarks/processes.json.

    python benchmarks/processes_page.py

`processes.py` and `parallel_speed.py` call it after every measurement.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

RECORD = Path(__file__).with_name("processes.json")
PAGE = Path(__file__).parents[1] / "docs" / "guides" / "many-machines.md"
QUIET = 2.0  # load of a machine that does little else
NETWORKS = {
    "mlp": "MLP 784-256-256-10, batch {batch}",
    "resnet-20": "ResNet-20, batch {batch}",
    "gpt": "GPT of 4 layers, batch {batch} × 64",
}
CONTENDERS = {
    "two processes": "chainrule",
    "by hand": "by hand",
    "by hand, statistics of the whole batch": "by hand, whole batch",
    "lightning": "Lightning",
    "accelerate": "Accelerate",
    "one process, two threads": "chainrule, one process of two threads",
}
KILLED = {
    "kills": "a process, copies of the model",
    "kills, sharded": "a process, the model in shards",
    "kills, launcher": "the launcher, then `chainrule resume`",
}
LOST = {
    "down": "its link is cut for good",
    "killed": "all its processes are killed, and its network is removed",
    "dropped": "its link is cut for 20 seconds",
}


def speed(known: dict[str, Any]) -> str:
    """Milliseconds of a step, and the ratio to the hand-written script."""
    rows = known["speed"]
    names = [name for name in CONTENDERS if any(name in row for row in rows.values())]
    lines = [table("milliseconds of a step", *(CONTENDERS[name] for name in names), "ratio")]
    for kind, row in rows.items():
        times = [row[n]["milliseconds of a step"] if n in row else None for n in names]
        ours = row["two processes"]
        spread = f"{ours['of rounds'][0]:.2f} to {ours['of rounds'][-1]:.2f}"
        title = NETWORKS[kind].format(**row)
        lines.append(line(title, *map(number, times), f"{ours['to by hand']:.2f} ({spread})"))
    loads = ", ".join(f"{row['load before']:.1f}" for row in rows.values())
    quiet = all(row["load before"] < QUIET for row in rows.values())
    days = ", ".join(dict.fromkeys(row.get("date", "2026-11-18") for row in rows.values()))
    return "\n".join(lines) + (
        "\n\nThe ratio is that of chainrule to the script by hand: median and range of the rounds, "
        f"which take turns. {known['machine']}; {days}; load average before: {loads}."
        + (" It did other work: the figures do not tell the contenders apart." * (not quiet))
    )


def kills(known: dict[str, Any]) -> str:
    """How many were killed, and what became of their runs."""
    lines = [table("killed", "kills", "after the first checkpoint", "equal weights at the end")]
    for name, title in KILLED.items():
        if rows := [row for row in known.get(name, []) if row["killed"]]:
            behind = sum(row["had a checkpoint"] for row in rows)
            equal = sum(row["equal"] for row in rows)
            lines.append(line(title, len(rows), behind, f"{equal} of {len(rows)}"))
    return "\n".join(lines)


def machines(known: dict[str, Any]) -> str:
    """Two machines, of which the second is lost."""
    lines = [table("the second machine", "the first ends after", "difference of a weight")]
    for name, title in LOST.items():
        if row := known["node"].get(name):
            end = f"{row['seconds']} s" if row["code"] == 0 else f"code {row['code']}"
            other = f"{row['difference']:.1g} from {row['from']}" if row["difference"] else "none"
            lines.append(line(title, end, other))
    return "\n".join(lines)


def table(*heads: str) -> str:
    return line(*heads) + "\n" + "|---|" + "---:|" * (len(heads) - 1)


def line(*cells: object) -> str:
    return "| " + " | ".join(map(str, cells)) + " |"


def number(milliseconds: float | None) -> str:
    return "" if milliseconds is None else f"{milliseconds:.3g}"


PARTS: dict[str, Callable[[dict[str, Any]], str]] = {
    "speed": speed,
    "kills": kills,
    "machines": machines,
}


def written(text: str, known: dict[str, Any]) -> str:
    """The page with its tables."""
    for name, part in PARTS.items():
        begin, end = f"<!-- {name}: benchmarks/processes_page.py -->", "<!-- end -->"
        body = part(known)
        block = f"{begin}\n\n{body}\n\n{end}" if body else f"{begin}\n{end}"
        before, rest = text.split(begin)
        text = before + block + rest.partition(end)[2]
    return text


def write() -> None:
    known = json.loads(RECORD.read_text("utf-8"))
    PAGE.write_text(written(PAGE.read_text("utf-8"), known), "utf-8")


if __name__ == "__main__":
    write()
