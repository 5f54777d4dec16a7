"""A note for small data: the epochs of a recipe may be too few updates to learn anything."""

from dataclasses import replace
from math import ceil

from chainrule.runs.recipe import DataSummary
from chainrule.training import Settings

FEW = 300  # updates of a network that starts from random weights


def with_note_on_updates(summary: DataSummary, settings: Settings) -> DataSummary:
    """The summary; its remarks say so if training is over after a few updates."""
    rows = (summary.examples or {}).get("train", 0)
    updates = settings.epochs * ceil(rows / settings.batch_size)
    if not rows or updates >= FEW:
        return summary
    said = (
        f"{settings.epochs} epochs of {rows:,} examples are {updates} updates, which may be too "
        "few to learn from; raise `epochs` or lower `batch_size`"
    )
    return replace(summary, remarks=(*summary.remarks, said))
