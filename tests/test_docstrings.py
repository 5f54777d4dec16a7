"""Docstring examples run, and the main class of every model documents its arguments."""

import doctest
from importlib import import_module
from inspect import signature
from pathlib import Path

import pytest
import torch
from torch import nn

import chainrule
from chainrule.registry import Entry, entries

PACKAGE = Path(chainrule.__file__).parent
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
MODULES = sorted(
    ".".join(("chainrule", *path.relative_to(PACKAGE).with_suffix("").parts))
    for room in ("models", "nn")
    for path in (PACKAGE / room).rglob("*.py")
    if path.name != "__init__.py"
)
CHAPTERS = ["attention"]  # of models whose main classes are documented
DOCUMENTED = [entry for entry in entries("models") if entry.chapter in CHAPTERS]


def failures(module_name: str) -> str:
    """The reports of all examples of a module that fail."""
    runner = doctest.DocTestRunner(optionflags=OPTIONS)
    reports: list[str] = []
    for test in doctest.DocTestFinder().find(import_module(module_name)):
        torch.manual_seed(0)
        runner.run(test, out=reports.append)
    return "".join(reports)


def main_class(entry: Entry) -> type[nn.Module]:
    """The first module class that the file defines."""
    module = entry.load()
    return next(
        value
        for value in vars(module).values()
        if isinstance(value, type)
        and issubclass(value, nn.Module)
        and value.__module__ == module.__name__
    )


@pytest.mark.parametrize("module_name", MODULES)
def test_the_examples_of_docstrings_run(module_name: str) -> None:
    assert not failures(module_name)


def test_an_example_that_fails_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "wrong_example.py").write_text('"""\n>>> 1 + 1\n3\n"""\n')
    monkeypatch.syspath_prepend(tmp_path)
    assert "Got:\n    2" in failures("wrong_example")


@pytest.mark.parametrize("entry", DOCUMENTED, ids=lambda entry: entry.name)
def test_the_main_class_documents_its_arguments_with_an_example(entry: Entry) -> None:
    kind = main_class(entry)
    text = kind.__doc__ or ""
    wanted = ["    Args:\n", *(f" {name}: " for name in signature(kind).parameters), ">>> "]
    assert not [part for part in wanted if part not in text]
