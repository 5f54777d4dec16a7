"""Two runs of the same rows: how the ratios to the peers changed.

A ratio to a peer of the same run is compared, not seconds: machines and days differ.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from benchmarks.suite import record
from benchmarks.suite.statistics import Interval, change
from chainrule.errors import InputError

Found = Mapping[str, Any]


def old_runs(place: Path) -> dict[str, Found]:
    """Records by row, of one file or of all in a folder, which may hold other files, too."""
    if place.is_dir():
        records = [record.content(path) for path in sorted(place.glob("*.json"))]
        return {each["row"]: each for each in records if each}
    found = record.content(place)
    if found is None:
        raise InputError(
            f"`compare` expects a record of the suite or a folder of them, got {place}"
        )
    return {found["row"]: found}


def changes(new: Found, old: Found) -> list[dict[str, Any]]:
    """Every peer that both runs have, case by case."""
    before = dict(peers(old))
    return [
        changed(new["row"], *key, ratio, before[key]) for key, ratio in peers(new) if key in before
    ]


def peers(found: Found) -> Iterable[tuple[tuple[str, str], Interval]]:
    """(case, peer) and its ratio to ours; ours itself says nothing."""
    for case in found.get("cases", ()):
        for one in case["contenders"]:
            if one["ratio"] and one["name"] != found["ours"]:
                yield (case["case"], one["name"]), Interval(*one["ratio"])


def changed(row: str, case: str, peer: str, now: Interval, before: Interval) -> dict[str, Any]:
    """A gain if the ratio grew by more than chance, a regression if it fell."""
    found = change(now, before)
    verdict = "same" if found.tie else "gain" if found.value > 1 else "regression"
    return {
        "row": row,
        "case": case,
        "peer": peer,
        "before": before.value,
        "now": now.value,
        "change": list(found),
        "verdict": verdict,
    }
