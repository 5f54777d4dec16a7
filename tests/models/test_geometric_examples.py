"""Every public class of the chapter: its documented arguments, its equation and its example."""

import doctest
import inspect
from importlib import import_module

import pytest

from chainrule.models import geometric

PUBLIC = [getattr(geometric, name) for name in geometric.__all__]
HELPERS = (
    "chainrule.graphs",
    "chainrule.nn.indexed_images",
    "chainrule.nn.on_graph",
    "chainrule.nn.pooled_layer",
    "chainrule.nn.sparse",
)
MODULES = sorted({kind.__module__ for kind in PUBLIC} | set(HELPERS))


@pytest.mark.parametrize("kind", PUBLIC, ids=lambda kind: kind.__name__)
def test_a_class_documents_its_arguments_its_equation_and_an_example(kind):
    text = inspect.getdoc(kind) or ""
    names = [name for name in inspect.signature(kind.__init__).parameters if name != "self"]
    arguments = text.partition("Args:")[2]
    assert all(f"    {name}: " in arguments for name in names), names
    assert " = " in text.partition("Args:")[0], "no equation"
    assert ">>> " in text, "no example"


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_file_run(name):
    found = doctest.testmod(import_module(name))
    assert found.attempted and not found.failed
