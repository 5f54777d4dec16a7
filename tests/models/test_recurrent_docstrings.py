"""Recurrent networks, reinforcement learning, environments: help() shows all that a user needs."""

import doctest
import inspect
import re
from types import ModuleType

import pytest
from torch import nn

from chainrule import environments
from chainrule.models import recurrent, reinforcement
from chainrule.registry import entries

PACKAGES = {"recurrent": recurrent, "reinforcement": reinforcement, "": environments}
CLASSES = [
    value
    for package in PACKAGES.values()
    for value in (getattr(package, name) for name in package.__all__)
    if inspect.isclass(value)
]
every_class = pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)


def documented(kind: type) -> list[str]:
    """The names in the section Args: of the docstring."""
    found = re.search(r"^Args:\n((?:    .*\n)+)", inspect.getdoc(kind) or "", re.MULTILINE)
    return re.findall(r"^    (\w+): ", found[1], re.MULTILINE) if found else []


@every_class
def test_every_argument_is_documented(kind: type) -> None:
    if getattr(kind, "_is_protocol", False):
        pytest.skip("has no constructor")
    assert documented(kind) == list(inspect.signature(kind).parameters)


@every_class
def test_every_model_shows_its_equation(kind: type) -> None:
    if not issubclass(kind, nn.Module):
        pytest.skip("is no model")
    assert "__doc__" in vars(kind), "inherits the docstring of another model"
    assert re.search(r"^    .*[=←]", inspect.getdoc(kind) or "", re.MULTILINE)


@every_class
def test_every_example_runs(kind: type) -> None:
    if kind is environments.GymEnvironments:
        pytest.importorskip("gymnasium")
    (example,) = doctest.DocTestFinder(recurse=False).find(kind, globs={})
    assert example.examples, "has no example"
    result = doctest.DocTestRunner().run(example)
    assert result.failed == 0


def test_every_chapter_exports_its_models() -> None:
    found = entries("models") + entries("environments")
    for entry in [entry for entry in found if entry.chapter in PACKAGES]:
        exported = PACKAGES[entry.chapter].__all__
        assert models_of(entry.load()) <= set(exported), entry.name


def models_of(module: ModuleType) -> set[str]:
    """The models that a file defines."""
    return {
        name
        for name, value in vars(module).items()
        if inspect.isclass(value)
        and issubclass(value, nn.Module)
        and value.__module__ == module.__name__
    }
