"""Write the tables of docs/ and of SECURITY.md from what was recorded.

    make tables

`--check` only compares.
"""

import json
import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks import guide_tables  # noqa: E402
from benchmarks.suite import page  # noqa: E402
from chainrule.runs.record import markdown  # noqa: E402

PAGES = tuple(
    ROOT / name
    for name in (
        "docs/results.md",
        "docs/speed.md",
        "docs/lab.md",
        "docs/guides/service.md",
        "docs/guides/own-data.md",
        "docs/guides/own-images.md",
        "docs/guides/own-table.md",
        "docs/guides/out-of-core.md",
        "docs/guides/transfer.md",
        "docs/studio.md",
        "SECURITY.md",
    )
)


def inductive_bias() -> str:
    """What a network knows of images beforehand, and what that is worth in the same minutes."""
    lines = ["| CIFAR-10, test error | parameters | seconds | % |", "|---|---|---|---|"]
    for name in ("cifar10-resnet20", "cifar10-plain20", "cifar10-vit"):
        found = json.loads((ROOT / f"benchmarks/results/{name}.json").read_text("utf-8"))
        run = found["runs"][0]
        sizes = f"{run['parameters']:,} | {run['seconds']:,.0f}"
        lines.append(f"| `{name}` | {sizes} | {100 * run['metrics']['test']['error']:.2f} |")
    return "\n".join(lines) + "\n"


def tricks() -> str:
    """What each trick is worth, taken from the whole set and added to a bare network."""
    found = json.loads((ROOT / "benchmarks/results/spam-tuned.json").read_text("utf-8"))
    compared = found["runs"][0]["compared"]

    def errors(name: str) -> str:
        splits = (compared[name][split] for split in ("validation", "test"))
        return " | ".join(
            f"{100 * s['error']:.2f} ± {100 * s['standard error']:.2f}" for s in splits
        )

    lines = [
        "| spam, error in % | without it: validation | test | with it alone: validation | test |",
        "|---|---|---|---|---|",
        f"| (all tricks; no trick) | {errors('all tricks')} | {errors('no trick')} |",
    ]
    for trick in (name.removeprefix("only ") for name in compared if name.startswith("only ")):
        lines.append(f"| {trick} | {errors('all but ' + trick)} | {errors('only ' + trick)} |")
    return "\n".join(lines) + "\n"


def campaign() -> str:
    """What the attack tried, and how it ended."""
    result = json.loads((ROOT / "benchmarks/campaign.json").read_text("utf-8"))
    good = ("right", "refused", "skipped")
    lines = [f"| attack | attempts | {' | '.join(good)} | failures |", "|---" * 6 + "|"]
    for name, found in result["kinds"].items():
        counts = [found.get(outcome, 0) for outcome in good]
        cells = " | ".join(f"{n:,}" for n in (found["attempts"], *counts))
        lines.append(f"| {name} | {cells} | {found['attempts'] - sum(counts):,} |")
    told = f"{result['attempts']:,} attempts, {result['failures']:,} failures"
    where = f"seed {result['seed']}, {result['date']}, {result['machine']}"
    lines += ["", f"{told}: `{result['command']}`, {where}, {result['seconds'] / 60:,.0f} minutes."]
    return "\n".join(lines) + "\n"


def studio() -> str:
    """The studio's figures."""
    found = json.loads((ROOT / "benchmarks/studio.json").read_text("utf-8"))
    rates, load, page, slow = (found[part] for part in ("rates", "load", "page", "slowdown"))
    samples = found["memory"]["samples"]
    first, last = samples[1], samples[-1]
    rows = [("first view after the wish to start", f"{found['first']['seconds']['median']:.2f} s")]
    for name in ("playground", "mnist-cnn", "shakespeare-gpt"):
        each = rates[name]
        late = 1000 * each["latency in seconds"]["median"]
        told = f"{each['updates per second']:.1f} a second, {late:.1f} ms old on arrival"
        rows.append((f"views while training: {name}", told))
    rows += [
        ("slow-down of the MNIST CNN by watching", f"{100 * slow['median slow-down']:.1f} %"),
        (
            f"{load['sessions']} sessions at once",
            f"{load['updates per second, least']:.1f} to {load['updates per second, most']:.1f} "
            "views a second each",
        ),
        ("first paint", f"{page['first contentful paint in seconds']:.2f} s"),
    ]
    for name in ("home", "all rooms"):
        small, plain = page[f"{name} in kB, compressed and plain"]
        rows.append((f"weight of {name}", f"{small:.0f} kB compressed, {plain:.0f} kB plain"))
    for part in ("page heap", "server", "largest child"):
        told = f"{first[part]:.1f} → {last[part]:.1f} MB"
        rows.append((f"memory, minute {first['minute']:.0f} → {last['minute']:.0f}: {part}", told))
    lines = ["| | |", "|---|---|", *(f"| {name} | {value} |" for name, value in rows), ""]
    where = f"`{found['command']}`, {found['load']['date']}, {found['machine']}"
    return "\n".join([*lines, f"{where}; memory beside other work."]) + "\n"


def lab() -> str:
    """Every claim: what was measured, how much of its bound is used, which violations it sees."""
    seeds = json.loads((ROOT / "benchmarks/lab.json").read_text("utf-8"))
    mutations = json.loads((ROOT / "benchmarks/lab_mutations.json").read_text("utf-8"))
    table = {name: found["near"] for name, found in mutations["table"].items()}
    tenth = [
        [row["detected"] for name, row in near.items() if is_tenth(name)] for near in table.values()
    ]
    tenth = [found for found in tenth if found]
    lines = [
        f"{seeds['claims']} claims, {seeds['checks']:,} checks, {seeds['failed']} failed "
        f"(`{seeds['command']}`, {seeds['date']}, {seeds['processor_seconds']:,} s of processor "
        f"time). {mutations['detected']} of {mutations['violations']} near violations of "
        f"{mutations['claims']} claims are detected (`{mutations['command']}`, "
        f"{mutations['date']}); of the {len(tenth)} claims with a constant or exponent that is "
        f"changed by 10 %, {sum(map(all, tenth))} detect it in both directions.",
        "",
        "| claim | measured | bound | used | near violations detected |",
        "|---|---|---|---|---|",
    ]
    for name, verdict in seeds["verdicts"].items():
        rows = table.get(name, {})
        seen = f"{sum(row['detected'] for row in rows.values())} of {len(rows)}" if rows else "–"
        value, bound = f"{verdict['measured']:.4g}", f"{verdict['relation']} {verdict['bound']:.4g}"
        lines.append(f"| `{name}` | {value} | {bound} | {used(verdict)} | {seen} |")
    missed = [
        f"`{name}`: {violation}"
        for name, rows in table.items()
        for violation, row in rows.items()
        if not row["detected"]
    ]
    lines += ["", f"Not detected: {'; '.join(missed) or 'none'}."]
    return "\n".join(lines) + "\n"


def service() -> str:
    """Exported networks beside torch, and the service under load."""
    found = json.loads((ROOT / "benchmarks/service.json").read_text("utf-8"))
    lines = [
        "| one forward pass, µs | batch | torch | ONNX Runtime | difference |",
        "|---" * 5 + "|",
    ]
    for row in found["latency"]:
        times = f"{row['torch']:,.0f} | {row['onnx']:,.0f} | {row['difference']:.1e}"
        lines.append(f"| {row['network']} | {row['batch']} | {times} |")
    lines += ["", "| service | answers | wrong or lost | a second | median | 95 % | 99 % |"]
    lines.append("|---" * 7 + "|")
    for name, row in found["load"].items():
        lost = row["wrong"] + row["questions"] - row["answers"]
        times = " | ".join(f"{row[key]:.1f} ms" for key in ("median ms", "95 % ms", "99 % ms"))
        counts = f"{row['answers']:,} | {lost} | {row['per second']:,.0f}"
        lines.append(f"| {name} | {counts} | {times} |")
    where = f"`{found['command']}`, {found['date']}, {found['machine']}, one thread each."
    return "\n".join([*lines, "", where]) + "\n"


def is_tenth(violation: str) -> bool:
    """Whether a violation is an error of 10 %."""
    return any(text in violation for text in ("× 0.9", "× 1.1", "10 %"))


def used(verdict: dict[str, Any]) -> str:
    """The share of a bound that the measurement uses up; an equality has none."""
    measured, bound = verdict["measured"], verdict["bound"]
    if verdict["relation"] == "=" or not measured or not bound or measured * bound < 0:
        return ""
    share = measured / bound if verdict["relation"] in ("≤", "<") else bound / measured
    return f"{100 * share:.0f} %"


def rewritten(text: str) -> str:
    """A page with all tables in their places."""
    found = page.records(ROOT / "benchmarks/speed")
    for name, table in (
        ("results", markdown(ROOT / "benchmarks/results")),
        ("leads", page.leads(found)),
        ("suite", page.races(found)),
        ("growth", page.growths(found)),
        ("tricks", tricks()),
        ("inductive-bias", inductive_bias()),
        ("lab", lab()),
        ("service", service()),
        ("campaign", campaign()),
        ("studio", studio()),
        *((name, written()) for name, written in guide_tables.TABLES.items()),
    ):
        begin, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
        text = re.sub(f"{begin}.*?{end}", lambda _, t=table: begin + t + end, text, flags=re.DOTALL)  # noqa: B023
    return text


if __name__ == "__main__":
    for place in PAGES:
        old = place.read_text("utf-8")
        if "--check" not in sys.argv:
            place.write_text(rewritten(old), "utf-8")
        elif rewritten(old) != old:
            sys.exit(f"{place.name} differs from what was recorded; run: make tables")
