"""Claims from Python: one call, its verdict, its picture and its violation."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from matplotlib.figure import Figure

from chainrule.errors import InputError
from chainrule.lab import ClaimResult, check

OWN = '''"""Claim: doubling is addition (own file).

    2 x = x + x
"""

from chainrule.lab.claim import Picture, Verdict


def check(number: int = 3, factor: float = 2.0) -> Verdict:
    """Integers.

    Args:
        number: How many.
    """
    xs = [float(x) for x in range(number)]
    worst = max(abs(factor * x - (x + x)) for x in xs)
    picture = Picture("Doubling", "x", "2 x", points={"sum": (xs, [x + x for x in xs])})
    return Verdict("largest difference", float(worst), "=", 0.0, picture)


def broken() -> Verdict:
    """Three for two."""
    return check(factor=3.0)
'''


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "my_claim.py"
    path.write_text(OWN, "utf-8")
    return path


def test_a_claim_is_checked_by_name_with_its_arguments() -> None:
    found = check("novikoff", trials=3, examples=20)
    assert isinstance(found, ClaimResult)
    assert found.holds
    assert found.verdict.bound == 1
    assert found.verdict.details != check("novikoff", trials=3).verdict.details
    assert isinstance(found.plot(), Figure)
    assert found.plot().axes[0].get_title(loc="left") == found.verdict.picture.title


@pytest.mark.parametrize("name", ["single-unit-xor", "single_unit_xor"])
def test_dashes_and_underscores_name_the_same_claim(name: str) -> None:
    assert check(name, inputs=2).holds


def test_the_representation_is_one_line() -> None:
    text = repr(check("xor"))
    assert text == "xor holds: largest |f(x) - y|: 0, bound = 0"
    broken = repr(check("xor").broken)
    assert broken == "xor, broken FAILS: largest |f(x) - y|: 4, bound = 0"


def test_the_violation_is_a_result_too_and_runs_once() -> None:
    stated = check("xor")
    assert "broken" not in vars(stated)  # nothing ran yet
    assert isinstance(stated.broken, ClaimResult)
    assert not stated.broken.holds
    assert stated.broken is stated.broken
    title = stated.broken.plot().axes[0].get_title(loc="left")
    assert title == f"Violated: {stated.verdict.picture.title}"
    with pytest.raises(InputError, match="already a violation of xor"):
        _ = stated.broken.broken


def test_a_notebook_shows_verdict_and_picture() -> None:
    found = check("xor")
    assert found._repr_png_().startswith(b"\x89PNG")
    page = found._repr_html_()
    assert "largest |f(x) - y|" in page
    assert '<span class="holds">holds</span>' in page
    assert "14 of 16 labelings are linear</td><td>yes" in page
    assert 'src="data:image/png;base64,' in page
    assert '<span class="fails">fails</span>' in found.broken._repr_html_()


def test_an_unknown_name_is_refused_with_a_suggestion() -> None:
    with pytest.raises(InputError, match="no claim named 'novikof'; did you mean novikoff"):
        check("novikof")


def test_an_unknown_argument_is_refused_with_a_suggestion() -> None:
    with pytest.raises(InputError, match="'example'; did you mean examples"):
        check("novikoff", example=5)


def test_a_file_of_ones_own_is_a_claim(own: Path) -> None:
    found = check(str(own), number=5)
    assert found.holds
    assert not found.broken.holds
    assert repr(found).startswith("my-claim holds: largest difference: 0")


def test_two_files_of_the_same_name_are_two_claims(own: Path, tmp_path: Path) -> None:
    other = tmp_path / "other" / own.name
    other.parent.mkdir()
    other.write_text(OWN.replace("factor: float = 2.0", "factor: float = 4.0"), "utf-8")
    found = [check(str(path)) for path in (own, other)]
    assert [result.holds for result in found] == [True, False]
    assert len({result.entry.load().__name__ for result in found}) == 2


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("def check(", "def measure(", r"is no claim: it must define `def check`"),
        (
            "number: int = 3",
            "number: int",
            "argument number of check in .* needs a type and default",
        ),
        ("xs = [", "xs == == [", r"my_claim.py, line 15: invalid syntax"),
    ],
)
def test_a_file_that_breaks_the_contract_is_refused(
    own: Path, old: str, new: str, message: str
) -> None:
    own.write_text(OWN.replace(old, new), "utf-8")
    with pytest.raises(InputError, match=message):
        check(str(own), number=1)


def test_a_file_without_a_violation_says_so_when_asked(own: Path) -> None:
    own.write_text(OWN.replace("def broken", "def other"), "utf-8")
    found = check(str(own))
    with pytest.raises(InputError, match="my-claim defines no function broken"):
        _ = found.broken


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=re.escape(f"there is no file {tmp_path / 'none.py'}")):
        check(str(tmp_path / "none.py"))


def test_the_door_opens_without_torch() -> None:
    code = (
        "import sys, chainrule.lab;"
        "sys.exit(any(name in sys.modules for name in ('torch', 'numpy', 'matplotlib')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
