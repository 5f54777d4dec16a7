"""The tables of docs/speed.md, from the records of the suite."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.suite.record import content
from benchmarks.suite.tables import duration, percent, ratio_cells, short, times

Found = Mapping[str, Any]
OURS, AUTO, LOW = "chainrule", "chainrule, auto precision", "autocast"
TRAINERS = (
    "DataLoader",
    "Lightning",
    "skorch",
    "fastai",
    "Keras",
    "Trainer",
    "scikit-learn",
    "PyG",
    "stable-baselines3",
    "transformers",
)


def records(folder: Path) -> list[Found]:
    """Everything that the suite recorded, row by row."""
    found = [content(path) for path in sorted(folder.glob("*.json"))]
    return [each for each in found if each]


def races(found: Sequence[Found]) -> str:
    """All contenders of all rows; a ratio above 1 is a peer that takes longer."""
    rows = [line for each in found if each["kind"] == "race" for line in race_lines(each)]
    if not rows:
        return "No row is recorded yet.\n"
    head = "| contender | time | ratio | 95 % | rounds | of the limit | memory | agrees |"
    return "\n".join([head, "|---" * 8 + "|", *rows, "", *told(found)]) + "\n"


def leads(found: Sequence[Found]) -> str:
    """The closest peers of every case: how many times as long they take."""
    rows = [
        lead(each["title"], case, each["ours"])
        for each in found
        if each["kind"] == "race"
        for case in each["cases"]
    ]
    if not rows:
        return "No row is recorded yet.\n"
    head = "| row | closest peer in float32 | closest to auto precision | closest trainer |"
    return "\n".join([head, "|---" * 4 + "|", *rows]) + "\n"


def lead(title: str, case: Found, ours: str) -> str:
    """Peers that learn as much; a trainer is compared with the quicker of ours."""
    seconds = {one["name"]: one["seconds"] for one in case["contenders"]}
    able = {one["name"] for one in case["contenders"] if one["agrees"] is not False}
    peers = {name: took for name, took in seconds.items() if not name.startswith(OURS)}
    peers = {name: took for name, took in peers.items() if name in able}
    plain = {name: took for name, took in peers.items() if LOW not in name}
    trainers = {n: took for n, took in peers.items() if any(word in n for word in TRAINERS)}
    own, auto = seconds[ours], seconds.get(AUTO)
    quicker = min(own, auto or own)
    named = f"{title}, {case['case']}" if case["case"] else title
    cells = closest(plain, own), closest(peers, auto), closest(trainers, quicker)
    return f"| {' | '.join([named, *cells])} |"


def closest(peers: Mapping[str, float], own: float | None) -> str:
    """The quickest of them beside ours."""
    if not peers or own is None:
        return ""
    name = min(peers, key=lambda each: peers[each])
    return f"{times(peers[name] / own)} × {name}"


def race_lines(found: Found) -> Iterator[str]:
    """The cases of one row, each under its name."""
    for case in found["cases"]:
        named = f", {case['case']}" if case["case"] else ""
        yield f"| **{found['title']}**{named}: {found['unit']} | | | | | | | |"
        for one in sorted(case["contenders"], key=lambda each: each["seconds"]):
            yield contender_line(one)
        for name, why in (case["skipped"] | case["failed"]).items():
            yield f"| {name} | {why} | | | | | | |"
        for note in case["disturbed"]:
            yield f"| *{note}* | | | | | | | |"


def contender_line(one: Found) -> str:
    share = one.get("share_of_limit")
    cells = [
        one["name"],
        duration(one["seconds"]),
        *ratio_cells(one["ratio"]),
        str(one["rounds"]),
        "" if share is None else f"{percent(share)}, {one['limit']}",
        f"{one['peak_mb']:,} MB",
        {None: "", True: "yes", False: "**no**"}[one["agrees"]],
    ]
    return f"| {' | '.join(cells)} |"


def told(found: Sequence[Found]) -> list[str]:
    """Where and when: every machine once."""
    facts = {
        f"{m['processor']}, {m['cores']} cores, {m['threads']} threads, torch {m['torch']}, "
        f"Python {m['python']}, {m['date']}"
        for m in (each["machine"] for each in found)
    }
    return [f"Measured on {'; '.join(sorted(facts))}."]


def growths(found: Sequence[Found]) -> str:
    """Fitted slopes beside the expected ones."""
    head = "| growth | sizes | largest | slope | expected | memory | slope | expected |"
    rows = []
    for each in found:
        if each["kind"] == "growth":
            rows.append(f"| **{each['title']}** | | | | | | | |")
            rows += [growth_line(line) for line in each["lines"]]
    if not rows:
        return "No growth is recorded yet.\n"
    return "\n".join([head, "|---" * 8 + "|", *rows]) + "\n"


def growth_line(line: Found) -> str:
    memory, expected = line["memory_slope"], line["expected_memory"]
    cells = [
        line["name"],
        f"{short(line['sizes'][0])} … {short(line['sizes'][-1])}",
        duration(line["seconds"][-1]),
        f"{line['slope']:.2f} ± {line['slope_error']:.2f}",
        f"{line['expected']:g}",
        f"{line['extra_mb'][-1]:,.0f} MB",
        "" if memory is None else f"{memory:.2f}",
        "" if expected is None else f"{expected:g}",
    ]
    return f"| {' | '.join(cells)} |"
