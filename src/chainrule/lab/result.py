"""A claim checked from Python, and what a notebook shows of it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chainrule.errors import InputError
from chainrule.lab.claim import Verdict, near_of, validate
from chainrule.registry import Entry, entry_from_file, find, unknown

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BROKEN = "broken"  # the violation that every claim has, by the name of its function


@dataclass(frozen=True, repr=False)
class ClaimResult:
    """The verdict on one claim.

    Args:
        entry: The claim's file.
        verdict: What was measured, and the bound.
        violation: Name of the violation that was measured; empty for the claim as stated.

    >>> import chainrule as cr
    >>> result = cr.check("xor")
    >>> result.holds, result.broken.holds
    (True, False)
    """

    entry: Entry
    verdict: Verdict
    violation: str = ""

    @property
    def holds(self) -> bool:
        return self.verdict.holds

    @cached_property
    def broken(self) -> "ClaimResult":
        """The same claim with its hypothesis violated; run on first use."""
        self._require_stated()
        return violate(self.entry)

    @cached_property
    def near(self) -> "NearResults":
        """The near violations by name; each is run on first use."""
        self._require_stated()
        return NearResults(self.entry)

    def _require_stated(self) -> None:
        if self.violation:
            raise InputError(f"this is already a violation of {self.entry.name}")

    def plot(self) -> "Figure":
        """The picture: curves predicted, points measured, bounds dashed."""
        from chainrule.plots.claims import claim_figure  # matplotlib is slow to import

        picture = vars(self.verdict.picture)
        if self.violation:  # the title states the claim
            picture = picture | {"title": f"Violated: {picture['title']}"}
        return claim_figure(**picture)

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {"statement": self.entry.title, **self.verdict.to_json()}

    def __repr__(self) -> str:
        from chainrule.console.tables import side_by_side

        v = self.verdict
        name = f"{self.entry.name}, {self.violation}" if self.violation else self.entry.name
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


class NearResults(Mapping[str, ClaimResult]):
    """A claim under each of its near violations, which is measured when first looked up."""

    def __init__(self, entry: Entry) -> None:
        self._entry = entry
        self._names = tuple(near_of(entry))
        self._found: dict[str, ClaimResult] = {}

    def __getitem__(self, name: str) -> ClaimResult:
        if name not in self._names:
            raise KeyError(name)
        if name not in self._found:
            self._found[name] = violate(self._entry, name)
        return self._found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        return f"near violations of {self._entry.name}: {', '.join(self._names) or 'none'}"


def check_claim(name: str, **arguments: Any) -> ClaimResult:
    """Check a claim by its name, or by the path of a file of the same contract.

    Args:
        name: Such as "novikoff" or "./my_claim.py"; `chainrule lab` lists the names.
        arguments: Those of the claim's own `check`; `help(chainrule.lab.claim)` says more.

    >>> import chainrule as cr
    >>> cr.check("novikoff", trials=5).holds
    True
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


def violate(entry: Entry, violation: str = BROKEN) -> ClaimResult:
    """The claim under one of its violations, with settings of its own.

    Args:
        entry: The claim's file.
        violation: `BROKEN`, or the name of a near violation.
    """
    near = near_of(entry)
    if violation in near:
        return ClaimResult(entry, near[violation](), violation)
    if violation != BROKEN:
        raise InputError(unknown(f"violation of {entry.name}", violation, [BROKEN, *near]))
    module = entry.load()
    if not hasattr(module, "broken"):
        raise InputError(
            f"{entry.name} defines no function broken; add one that violates the hypothesis"
        )
    return ClaimResult(entry, module.broken(), BROKEN)
