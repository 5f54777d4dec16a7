"""Pictures of docs/speed.md from the records of the suite: `make tables`.

docs/pictures/speed-peers.png   how much longer the peers take
docs/pictures/speed-growth.png  time and memory by size, with fitted slopes
"""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.suite.page import records  # noqa: E402
from benchmarks.suite.pictures import growth, overview  # noqa: E402
from chainrule.plots.style import save  # noqa: E402

PICTURES = ROOT / "docs" / "pictures"


def main() -> None:
    """Draw what is recorded; a picture without records stays as it is."""
    found = records(ROOT / "benchmarks" / "speed")
    if races := [each for each in found if each["kind"] == "race"]:
        save(overview(races), PICTURES / "speed-peers.png")
    if grown := [each for each in found if each["kind"] == "growth"]:
        save(growth(grown), PICTURES / "speed-growth.png")


if __name__ == "__main__":
    main()
