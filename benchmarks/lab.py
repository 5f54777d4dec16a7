"""Record the lab: every claim with twenty seeds, and the near violations that it detects.

python benchmarks/lab.py            both, into lab.json and lab_mutations.json
python benchmarks/lab.py NAME NAME  the rows of these claims anew
"""

import json
import platform
import resource
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from chainrule.registry import entries

HERE = Path(__file__).parent
KEPT = ("quantity", "measured", "relation", "bound", "seeds", "holds")
Table = dict[str, dict[str, Any]]


def main(names: list[str]) -> None:
    if len(names) == 1:
        sys.exit("name two or more claims, or none for all of them")
    chosen = names or ["--all"]
    known = [entry.name for entry in entries("claims")]
    found, seconds = run([*chosen, "--seeds", "20"])
    verdicts = {name: {key: v[key] for key in KEPT if key in v} for name, v in found.items()}
    verdicts = merged("lab.json", "verdicts", verdicts, names, known)
    before = json.loads((HERE / "lab.json").read_text("utf-8"))["processor_seconds"]
    save(
        "lab.json",
        f"chainrule lab {'NAMES' if names else '--all'} --seeds 20 --json",
        {
            "claims": len(verdicts),
            "checks": sum(verdict.get("seeds", 1) for verdict in verdicts.values()),
            "failed": sum(not verdict["holds"] for verdict in verdicts.values()),
            "processor_seconds": round(seconds + (before if names else 0)),
            "machine": f"{platform.machine()}, 2 cores, beside other work",
            "verdicts": verdicts,
        },
    )
    table, _ = run([*chosen, "--mutate"])
    table = merged("lab_mutations.json", "table", table, names, known)
    rows = [row for found in table.values() for row in found["near"].values()]
    save(
        "lab_mutations.json",
        "chainrule lab --all --mutate --json",
        {
            "claims": len(table),
            "violations": len(rows),
            "detected": sum(row["detected"] for row in rows),
            "table": table,
        },
    )


def run(words: list[str]) -> tuple[Table, float]:
    """What `chainrule lab` printed as JSON, and its processor time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "chainrule", "lab", *words, "--json"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return json.loads(done.stdout), spent


def merged(file: str, key: str, new: Table, names: list[str], known: list[str]) -> Table:
    """The record with the new rows, in the order of the claims."""
    old: Table = json.loads((HERE / file).read_text("utf-8"))[key] if names else {}
    rows = old | new
    return {name: rows[name] for name in known if name in rows}


def save(name: str, command: str, content: dict[str, Any]) -> None:
    record = {"command": command, "date": datetime.now(UTC).date().isoformat(), **content}
    text = json.dumps(record, indent=1, ensure_ascii=False) + "\n"
    (HERE / name).write_text(text, "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
