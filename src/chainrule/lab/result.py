"""A claim checked from Python, and what a notebook shows of it."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chainrule.errors import InputError
from chainrule.lab.claim import Verdict, validate
from chainrule.registry import Entry, entry_from_file, find

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, repr=False)
class ClaimResult:
    """The verdict on one claim.

    Args:
        entry: The claim's file.
        verdict: What was measured, and the bound.
        violated: Whether the hypothesis was violated on purpose.
    """

    entry: Entry
    verdict: Verdict
    violated: bool = False

    @property
    def holds(self) -> bool:
        return self.verdict.holds

    @cached_property
    def broken(self) -> "ClaimResult":
        """The same claim with its hypothesis violated; run on first use."""
        if self.violated:
            raise InputError(f"this is already the violation of {self.entry.name}")
        return violate(self.entry)

    def plot(self) -> "Figure":
        """The picture: curves predicted, points measured, bounds dashed."""
        from chainrule.plots.claims import claim_figure  # matplotlib is slow to import

        picture = vars(self.verdict.picture)
        if self.violated:  # the title states the claim
            picture = picture | {"title": f"Violated: {picture['title']}"}
        return claim_figure(**picture)

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {"statement": self.entry.title, **self.verdict.to_json()}

    def __repr__(self) -> str:
        from chainrule.console.tables import side_by_side

        v = self.verdict
        name = f"{self.entry.name}, violated" if self.violated else self.entry.name
        failed = [condition for condition, true in v.conditions.items() if not true]
        measured, bound = side_by_side(v.measured, v.bound)
        numbers = f"{v.quantity}: {measured}, bound {v.relation} {bound}"
        return f"{name} {'holds' if self.holds else 'FAILS'}: " + "; not: ".join([numbers, *failed])

    def _repr_html_(self) -> str:
        from chainrule.console.lab_page import claim_section, embedded

        return claim_section(self.entry.docstring, self.to_json(), embedded(self._repr_png_()))

    def _repr_png_(self) -> bytes:
        from chainrule.plots.style import rendered

        return rendered(self.plot(), ".png")


def check_claim(name: str, **arguments: Any) -> ClaimResult:
    """Check a claim by its name, or by the path of a file of the same contract.

    Args:
        name: Such as "novikoff" or "./my_claim.py"; `chainrule lab` lists the names.
        arguments: Those of the claim's own `check`; `help(chainrule.lab.claim)` says more.
    """
    return check_entry(claim(name), arguments)


def claim(name: str) -> Entry:
    """The claim of that name, or in that file."""
    is_path = name.endswith(".py") or "/" in name
    return entry_from_file("claims", Path(name)) if is_path else find("claims", name)


def check_entry(entry: Entry, arguments: dict[str, Any]) -> ClaimResult:
    """The claim as stated, with these arguments."""
    validate(entry, arguments)
    return ClaimResult(entry, entry.load().check(**arguments))


def violate(entry: Entry) -> ClaimResult:
    """The claim with its hypothesis violated, with settings of its own."""
    module = entry.load()
    if not hasattr(module, "broken"):
        raise InputError(
            f"{entry.name} defines no function broken; add one that violates the hypothesis"
        )
    return ClaimResult(entry, module.broken(), violated=True)
