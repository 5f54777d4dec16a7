"""The README tells the truth: tables are recorded results, code runs, links lead somewhere."""

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")


def test_the_tables_are_the_recorded_results(monkeypatch: pytest.MonkeyPatch) -> None:
    written = runpy.run_path(str(ROOT / "benchmarks" / "write_readme.py"))
    assert written["rewritten"](README) == README, "run: make readme"
    for path in (ROOT / "benchmarks" / "results").glob("*.json"):
        assert f"`{path.stem}`" in README


def test_the_python_examples_run(capsys: pytest.CaptureFixture[str]) -> None:
    blocks = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    assert blocks
    for block in blocks:
        exec(compile(block, "README.md", "exec"), {})
    assert "validation_loss" in capsys.readouterr().out


def test_links_lead_somewhere() -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)", README)
    assert len(links) >= 5
    for link in links:
        assert (ROOT / link).exists(), link
