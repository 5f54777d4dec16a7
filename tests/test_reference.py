"""The generated reference is complete, and everything public is documented."""

import re
import sys
from pathlib import Path

import pytest

from chainrule.catalog import tools
from chainrule.cli.main import COMMANDS
from chainrule.registry import CONTRACTS, entries

DOCS = Path(__file__).parents[1] / "docs"


@pytest.fixture(scope="module")
def reference() -> dict[str, str]:
    """Every page of the reference by its path."""
    sys.path.insert(0, str(DOCS))
    from book.reference import pages

    return pages()


def test_everything_with_a_name_has_a_page(reference: dict[str, str]) -> None:
    for kind in CONTRACTS:
        for entry in entries(kind):
            assert f"{kind}/{entry.name}.md" in reference
            assert f"[{entry.name}]({entry.name}.md)" in reference[f"{kind}/index.md"]
    assert sum(name.startswith("modules/") for name in reference) == len(tools()) + 1


def test_every_command_is_there_with_its_flags(reference: dict[str, str]) -> None:
    page = reference["commands.md"]
    for command in COMMANDS:
        section = page.partition(f"## chainrule {command}\n")[2].partition("\n## ")[0]
        assert "usage: chainrule" in section
    assert "--learning-rate" in page


def test_a_recipe_has_its_settings_and_its_recorded_result(reference: dict[str, str]) -> None:
    page = reference["recipes/cora-gcn.md"]
    assert "`--weight-decay` | 0.0005" in page
    assert "81.50 % (Kipf and Welling 2017)" in page


def test_a_claim_has_its_verdict(reference: dict[str, str]) -> None:
    assert re.search(r"\| 1 \| = 1 \| 20 \| holds \|", reference["claims/novikoff.md"])


def test_a_data_set_has_its_license(reference: dict[str, str]) -> None:
    for entry in entries("data"):
        assert "| license | " in reference[f"data/{entry.name}.md"], entry.name


def test_every_public_name_is_documented(reference: dict[str, str]) -> None:
    from book.front_door import public_names

    names = public_names()
    assert len(names) > 100
    missing = [name for name, value in names.items() if not (value.__doc__ or "").strip()]
    assert not missing
    page = reference["chainrule.md"]
    assert not [name for name in names if f"`{name.split('.')[-1]}`" not in page and "." in name]
