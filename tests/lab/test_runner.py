"""Many claims at once: processes, seeds, and the page that shows them."""

from pathlib import Path

import pytest

from chainrule.console.lab_page import Shown, lab_page
from chainrule.errors import InputError
from chainrule.lab import runner as running
from chainrule.registry import entries, find

CLAIMS = [find("claims", name) for name in ("xor", "novikoff", "hopfield-energy")]


def test_processes_change_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    here = list(running.check_many(CLAIMS, tmp_path / "here", seeds=2))
    monkeypatch.setattr(running, "WORTH_PROCESSES", 1)
    there = list(running.check_many(CLAIMS, tmp_path / "there", seeds=2))
    assert here == there
    assert [(name, verdict["seeds"]) for name, verdict in here] == [
        ("xor", 1),  # nothing random
        ("novikoff", 2),
        ("hopfield-energy", 2),
    ]
    for path in (tmp_path / "here").iterdir():
        assert path.read_bytes() == (tmp_path / "there" / path.name).read_bytes()


def test_a_claim_that_fails_for_one_seed_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    checks = [("a", 0, {"holds": True}), ("a", 1, {"holds": False}), ("b", None, {"holds": True})]
    assert list(running.combined(iter(checks))) == [
        ("a", {"holds": False, "seeds": 2, "failed": [1]}),
        ("b", {"holds": True, "seeds": 1, "failed": []}),
    ]


def test_no_seeds_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="`seeds` must be at least 1"):
        list(running.check_many(CLAIMS, tmp_path, seeds=0))


def test_claims_come_in_the_order_of_the_chapters() -> None:
    titles = [entry.chapter_title for entry in entries("claims")]
    assert titles[0] == "Chapter 1, connectionism"
    assert titles == sorted(titles)


def test_the_page_needs_no_other_file(tmp_path: Path) -> None:
    verdicts = dict(running.check_many(CLAIMS, tmp_path))
    verdicts["novikoff"]["holds"] = False
    shown = [
        Shown(c.name, c.chapter_title, c.docstring, verdicts[c.name], tmp_path / f"{c.name}.svg")
        for c in CLAIMS
    ]
    page = lab_page(shown)
    assert "2 of 3 claims hold" in page
    assert page.count("<h2>") == 1  # one chapter
    assert page.count('src="data:image/svg+xml;base64,') == page.count("<img") == 3
    assert "http" not in page.replace("http-equiv", "")
    assert page.count('<span class="fails">') == 2  # among the contents and in its place
    assert "⌊R²/γ²⌋" in page
    assert "<td>measured</td>" in page
    assert "<td>bound</td><td>= 0</td>" in page
    assert "<pre>    " in page
