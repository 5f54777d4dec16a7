"""Record which near violations the claims of the lab detect, in lab_mutations.json."""

import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

COMMAND = ["chainrule", "lab", "--all", "--mutate", "--json"]


def main() -> None:
    done = subprocess.run(
        [sys.executable, "-m", *COMMAND], stdout=subprocess.PIPE, check=True, text=True
    )
    table = json.loads(done.stdout)
    rows = [row for found in table.values() for row in found["near"].values()]
    record = {
        "command": " ".join(COMMAND),
        "date": datetime.now(UTC).date().isoformat(),
        "claims": len(table),
        "violations": len(rows),
        "detected": sum(row["detected"] for row in rows),
        "table": table,
    }
    text = json.dumps(record, indent=1, ensure_ascii=False) + "\n"
    Path(__file__).with_suffix(".json").write_text(text, "utf-8")


if __name__ == "__main__":
    main()
