"""What help() says of an exported model: its arguments, its equation and an example that runs."""

import doctest
import inspect
import re
from importlib import import_module

import pytest
from torch import nn

from chainrule.registry import entries

CHAPTERS = ("connectionism", "feedforward", "convolution", "theory")
MODELS = [
    getattr(import_module(f"chainrule.models.{chapter}"), name)
    for chapter in CHAPTERS
    for name in import_module(f"chainrule.models.{chapter}").__all__
]
every_model = pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)


@every_model
def test_every_argument_is_documented(model: type[nn.Module]) -> None:
    arguments = list(inspect.signature(model).parameters)
    documented = re.findall(
        r"^    (\w+): \S", inspect.getdoc(model).split("Args:")[1], re.MULTILINE
    )
    assert documented == arguments


@every_model
def test_the_equation_stands_in_the_class_docstring(model: type[nn.Module]) -> None:
    assert re.search(r"^    .*[=←]", inspect.getdoc(model).split("Args:")[0], re.MULTILINE)


@every_model
def test_the_example_runs(model: type[nn.Module]) -> None:
    found = doctest.DocTestFinder(recurse=False).find(model, globs=vars(inspect.getmodule(model)))
    assert sum(len(test.examples) for test in found) > 1
    for test in found:
        assert doctest.DocTestRunner().run(test).failed == 0


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_chapter_exports_all_its_models(chapter: str) -> None:
    exported = {model.__module__ for model in MODELS}
    files = [entry.load() for entry in entries("models") if entry.chapter == chapter]
    assert files and {file.__name__ for file in files} <= exported
