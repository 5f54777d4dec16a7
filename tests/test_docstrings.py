"""What help() says: arguments, equation and an example that runs, for all that chapters export."""

import doctest
import inspect
import re
from importlib import import_module
from pathlib import Path

import pytest
import torch
from torch import nn

import chainrule
from chainrule.registry import Entry, entries

PACKAGE = Path(chainrule.__file__).parent
CHAPTERS = [f"models.{path.parent.name}" for path in (PACKAGE / "models").glob("*/__init__.py")]
PACKAGES = [*sorted(CHAPTERS), "environments"]
OPTIONAL = {".gym": "gymnasium", ".table_blocks": "pyarrow"}
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
MODULES = sorted(
    ".".join(("chainrule", *path.relative_to(PACKAGE).with_suffix("").parts))
    for path in PACKAGE.rglob("*.py")
    if path.name != "__init__.py" and ">>> " in path.read_text("utf-8")
)


def exported(package: str) -> list[type]:
    """The classes that a package exports."""
    module = import_module(f"chainrule.{package}")
    return [kind for name in module.__all__ if inspect.isclass(kind := getattr(module, name))]


CLASSES = [kind for package in PACKAGES for kind in exported(package)]
NETWORKS = [kind for kind in CLASSES if issubclass(kind, nn.Module)]


def failures(module_name: str) -> str:
    """The reports of all examples of a module that fail."""
    runner = doctest.DocTestRunner(optionflags=OPTIONS)
    reports: list[str] = []
    for test in doctest.DocTestFinder().find(import_module(module_name)):
        torch.manual_seed(0)
        runner.run(test, out=reports.append)
    return "".join(reports)


@pytest.mark.parametrize("module_name", MODULES)
def test_the_examples_of_docstrings_run(
    module_name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # for what they write
    for ending, package in OPTIONAL.items():
        if module_name.endswith(ending):
            pytest.importorskip(package)
    assert not failures(module_name)


def test_an_example_that_fails_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "wrong_example.py").write_text('"""\n>>> 1 + 1\n3\n"""\n')
    monkeypatch.syspath_prepend(tmp_path)
    assert "Got:\n    2" in failures("wrong_example")


@pytest.mark.parametrize("kind", NETWORKS, ids=lambda kind: kind.__name__)
def test_every_argument_is_documented_in_its_order(kind: type[nn.Module]) -> None:
    section = (inspect.getdoc(kind) or "").partition("Args:\n")[2]
    documented = re.findall(r"^    (\w+): \S", section, re.MULTILINE)
    assert documented == list(inspect.signature(kind).parameters)


@pytest.mark.parametrize("kind", NETWORKS, ids=lambda kind: kind.__name__)
def test_the_equation_stands_in_the_class_docstring(kind: type[nn.Module]) -> None:
    assert "__doc__" in vars(kind), "inherits the docstring of another model"
    described = (inspect.getdoc(kind) or "").partition("Args:\n")[0]
    assert re.search(r"\S [=←≤≥] \S", described)


@pytest.mark.parametrize("kind", NETWORKS, ids=lambda kind: kind.__name__)
def test_the_class_has_an_example(kind: type[nn.Module]) -> None:
    assert ">>> " in (kind.__doc__ or "")


@pytest.mark.parametrize(
    "entry", entries("models") + entries("environments"), ids=lambda entry: entry.name
)
def test_a_chapter_exports_what_its_files_define(entry: Entry) -> None:
    package = f"models.{entry.chapter}" if entry.kind == "models" else "environments"
    module = entry.load()
    names = set(import_module(f"chainrule.{package}").__all__)
    own = {
        name
        for name, value in vars(module).items()
        if inspect.isclass(value)
        and issubclass(value, nn.Module)
        and value.__module__ == module.__name__
    }
    assert own & names, f"none of {own} is exported"
