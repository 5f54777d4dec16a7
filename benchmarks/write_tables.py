"""Write the tables of docs/ and of SECURITY.md from what was recorded.

    make tables

`--check` only compares.
"""

import json
import re
import sys
from pathlib import Path
from typing import Any

from chainrule.runs.record import markdown

ROOT = Path(__file__).parents[1]
PAGES = tuple(
    ROOT / name
    for name in (
        "docs/results.md",
        "docs/speed.md",
        "docs/lab.md",
        "docs/service.md",
        "docs/studio.md",
        "SECURITY.md",
    )
)


def speed() -> str:
    """The peers' times as multiples of ours."""
    result = json.loads((ROOT / "benchmarks/speed/mnist_mlp.json").read_text("utf-8"))
    lines = ["| one epoch of MNIST | seconds | relative |", "|---|---|---|"]
    for row in result["rows"]:
        lines.append(f"| {row['name']} | {row['seconds']:.2f} | {row['ratio']:.2f} × |")
    return "\n".join(lines) + "\n"


def parts() -> str:
    """The pieces of a step beside torch's own."""
    result = json.loads((ROOT / "benchmarks/speed/parts.json").read_text("utf-8"))
    lines = ["| part of a step | torch | chainrule |", "|---|---|---|"]
    for row in result["rows"]:
        lines.append(f"| {row['name']} | {row['torch']:.0f} µs | {row['chainrule']:.0f} µs |")
    return "\n".join(lines) + "\n"


def many() -> str:
    """Networks trained together beside one after another."""
    result = json.loads((ROOT / "benchmarks/speed/many.json").read_text("utf-8"))
    lines = ["| trained at once | seconds | beside | seconds | faster |", "|---|---|---|---|---|"]
    for row in result["rows"]:
        ours, theirs = f"{row['seconds']:.2f}", f"{row['peer_seconds']:.2f}"
        lines.append(
            f"| {row['name']} | {ours} | {row['peer']} | {theirs} | {row['ratio']:.1f} × |"
        )
    return "\n".join(lines) + "\n"


def convolution() -> str:
    """Two convolutional networks beside the peers."""
    result = json.loads((ROOT / "benchmarks/speed/convolution.json").read_text("utf-8"))
    lines = ["| one epoch | by | seconds | relative | of the peak |", "|---|---|---|---|---|"]
    for network in result["networks"]:
        for row in network["rows"]:
            times = (
                f"{row['seconds']:.1f} | {row['ratio']:.2f} × | {100 * row['share_of_peak']:.0f} %"
            )
            lines.append(f"| {network['name']} | {row['name']} | {times} |")
    return "\n".join(lines) + "\n"


def dqn() -> str:
    """Steps of CartPole beside the peers."""
    result = json.loads((ROOT / "benchmarks/speed/dqn.json").read_text("utf-8"))
    lines = ["| DQN on CartPole | steps a second | relative |", "|---|---|---|"]
    for row in result["rows"]:
        lines.append(f"| {row['name']} | {row['steps_per_second']:,} | {row['ratio']:.2f} × |")
    return "\n".join(lines) + "\n"


def recurrent() -> str:
    """Cells beside torch's LSTM, the scan beside loops."""
    result = json.loads((ROOT / "benchmarks/speed/recurrent.json").read_text("utf-8"))
    lines = ["| forward and backward | ms | relative |", "|---|---|---|"]
    for part in (result["classifier"], result["scan"]):
        lines.append(f"| *{part['name']}* | | |")
        lines += [f"| {r['name']} | {r['ms']:.1f} | {r['ratio']:.2f} × |" for r in part["rows"]]
    return "\n".join(lines) + "\n"


def attention() -> str:
    """A step of GPT, tokens written, and layers by the length of their sequence."""
    result = json.loads((ROOT / "benchmarks/speed/attention.json").read_text("utf-8"))
    lines = ["| a training step of GPT | ms | relative | of the peak |", "|---|---|---|---|"]
    for row in result["training"]["rows"]:
        share = f"{100 * row['share_of_peak']:.0f} %"
        lines.append(f"| {row['name']} | {row['step_ms']:.1f} | {row['ratio']:.2f} × | {share} |")
    lines += ["", "| writing | by | tokens a second |", "|---|---|---|"]
    for network in result["writing"]:
        sizes = (
            f"{network['setting']['num_layers']} layers, width {network['setting']['hidden_size']}"
        )
        lines += [
            f"| {sizes} | {row['name']} | {row['tokens_per_second']:,.0f} |"
            for row in network["rows"]
        ]
    costs = result["layer_ms_by_length"]
    kinds = [name for name in costs[0] if name != "length"]
    lines += ["", f"| length | {', ms | '.join(kinds)}, ms |", "|---" * (1 + len(kinds)) + "|"]
    for row in costs:
        times = " | ".join(f"{row[kind]:,.1f}" for kind in kinds)
        lines.append(f"| {row['length']:,} | {times} |")
    return "\n".join(lines) + "\n"


def inductive_bias() -> str:
    """What a network knows of images beforehand, and what that is worth in the same minutes."""
    lines = ["| CIFAR-10, test error | parameters | seconds | % |", "|---|---|---|---|"]
    for name in ("cifar10-resnet20", "cifar10-plain20", "cifar10-vit"):
        found = json.loads((ROOT / f"benchmarks/results/{name}.json").read_text("utf-8"))
        run = found["runs"][0]
        sizes = f"{run['parameters']:,} | {run['seconds']:,.0f}"
        lines.append(f"| `{name}` | {sizes} | {100 * run['metrics']['test']['error']:.2f} |")
    return "\n".join(lines) + "\n"


def graphs() -> str:
    """Networks on Cora beside PyG, and an epoch by the number of edges."""
    result = json.loads((ROOT / "benchmarks/speed/graphs.json").read_text("utf-8"))
    lines = ["| 200 epochs | by | seconds | relative |", "|---|---|---|---|"]
    for network in result["networks"]:
        lines += [
            f"| {network['name']} | {row['name']} | {row['seconds']:.2f} | {row['ratio']:.2f} × |"
            for row in network["rows"]
        ]
    lines += ["", "| edges | nodes | ms an epoch | ns an edge | memory |", "|---|---|---|---|---|"]
    for row in result["edges"]:
        sizes = f"{row['edges']:,} | {row['nodes']:,} | {row['epoch_ms']:.1f}"
        lines.append(f"| {sizes} | {row['ns_per_edge']:.0f} | {row['peak_mb']:,} MB |")
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
    where = f"`{found['command']}`, {found['date']}, {found['machine']}, one thread each"
    return "\n".join([*lines, "", f"{where}, beside other work."]) + "\n"


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
    for name, table in (
        ("results", markdown(ROOT / "benchmarks/results")),
        ("speed", speed()),
        ("parts", parts()),
        ("many", many()),
        ("convolution", convolution()),
        ("dqn", dqn()),
        ("recurrent", recurrent()),
        ("attention", attention()),
        ("graphs", graphs()),
        ("tricks", tricks()),
        ("inductive-bias", inductive_bias()),
        ("lab", lab()),
        ("service", service()),
        ("campaign", campaign()),
        ("studio", studio()),
    ):
        begin, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
        text = re.sub(f"{begin}.*?{end}", lambda _, t=table: begin + t + end, text, flags=re.DOTALL)  # noqa: B023
    return text


if __name__ == "__main__":
    for page in PAGES:
        old = page.read_text("utf-8")
        if "--check" not in sys.argv:
            page.write_text(rewritten(old), "utf-8")
        elif rewritten(old) != old:
            sys.exit(f"{page.name} differs from what was recorded; run: make tables")
