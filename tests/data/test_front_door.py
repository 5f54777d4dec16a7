"""`chainrule.data`: every data set is a function of its name, imported when it is used."""

import inspect
import subprocess
import sys

import pytest
import torch

import chainrule as cr
import chainrule.data
from chainrule import registry
from chainrule.data.datasets import digits as digits_module

NAMES = [entry.path.stem for entry in registry.entries("data")]
READERS = ("About", "Encoder", "Split", "Splits", "arrays", "encoder_from_json", "graph_table")
READERS += (
    "array_blocks",
    "clouds",
    "graph_set",
    "images",
    "labeled_texts",
    "link_table",
    "masked_images",
    "memory_mapped",
    "sentence_pairs",
    "series",
    "table",
    "table_blocks",
    "tagged_sentences",
    "text_file",
)


def test_a_data_set_is_a_function_of_its_name() -> None:
    from chainrule.data import digits

    assert cr.data.digits is digits
    ours, theirs = digits(seed=1), digits_module.load(seed=1)
    assert torch.equal(ours.validation.x, theirs.validation.x)
    assert not torch.equal(ours.validation.x, digits(seed=2).validation.x)


def test_all_names_are_listed_and_nothing_else() -> None:
    assert {"digits", "mnist", "tiny_shakespeare"} <= set(NAMES)
    assert dir(cr.data) == sorted([*NAMES, *READERS, "datasets", "readers", "text"])


@pytest.mark.parametrize("name", NAMES)
def test_help_explains_the_data_set_and_every_argument(name: str) -> None:
    loader = getattr(cr.data, name)
    module = registry.find("data", name).load()
    assert loader.__name__ == name and inspect.signature(loader) == inspect.signature(module.load)
    documented = inspect.getdoc(loader)
    assert documented.startswith(module.__doc__.split("\n", 1)[0])
    assert module.ABOUT.citation in documented and module.ABOUT.license in documented
    for argument in inspect.signature(loader).parameters:
        assert f"\n    {argument}: " in documented


@pytest.mark.parametrize("name", READERS)
def test_readers_and_types_document_every_argument(name: str) -> None:
    found = getattr(cr.data, name)
    documented = inspect.getdoc(found)
    assert documented
    if name not in ("Encoder", "encoder_from_json"):
        assert all(
            f"{argument}: " in documented or f"{argument}, " in documented
            for argument in inspect.signature(found).parameters
        )


def test_an_unknown_name_gets_a_suggestion() -> None:
    with pytest.raises(
        AttributeError, match=r"no data set or reader named 'digit'; did you mean d"
    ):
        cr.data.digit  # noqa: B018
    with pytest.raises(ImportError, match="mnits"):
        from chainrule.data import mnits  # noqa: F401
    assert not hasattr(cr.data, "__wrapped__")


def test_sub_packages_stay_modules() -> None:
    for name in ("datasets", "readers", "text"):
        assert inspect.ismodule(getattr(cr.data, name)) and name not in NAMES
    from chainrule.data import cache

    assert inspect.ismodule(cache)


def test_nothing_heavy_is_imported_before_it_is_needed() -> None:
    code = (
        "import sys, chainrule as cr; dir(cr.data); hasattr(cr.data, 'no_such_set');"
        "assert not {'torch', 'numpy', 'sklearn', 'networkx'} & set(sys.modules);"
        "cr.data.moons; assert 'torch' in sys.modules;"
        "assert not {'sklearn', 'networkx', 'matplotlib', 'PIL'} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
