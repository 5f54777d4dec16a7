"""Check a claim and leave its picture in a folder."""

from pathlib import Path
from typing import Any

from chainrule.errors import InputError
from chainrule.registry import Entry
from chainrule.report.claims import claim_figure
from chainrule.report.style import save


def check_and_draw(entry: Entry, settings: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The verdict as plain values; the picture is NAME.png in the folder."""
    for name, value in settings.items():
        if name != "seed" and isinstance(value, int) and value < 1:
            raise InputError(f"--{name} must be at least 1, got {value}")
    verdict = entry.load().check(**settings)
    try:
        save(claim_figure(**vars(verdict.picture)), folder / f"{entry.name}.png")
    except OSError as error:
        raise InputError(f"cannot write pictures to {folder}: {error}") from None
    return {"statement": entry.title, **verdict.to_json()}
