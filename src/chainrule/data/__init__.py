"""Data sets, and readers of your own tables, arrays, graphs and texts.

    import chainrule as cr

    digits = cr.data.digits()                                # a published data set
    digits.train.x                                           # (1200, 1, 8, 8)
    cr.data.table("passengers.csv", target="survived")       # the same three splits of your file

Every data set is a function of its name: `dir(cr.data)` lists them, `help(cr.data.digits)` explains
one. Each returns `Splits`. Nothing is imported before it is used.
"""

from collections.abc import Callable
from functools import wraps
from importlib import import_module
from inspect import getdoc, signature
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING, Any

from chainrule.arguments import check, checked
from chainrule.registry import Entry, entries, unknown

if TYPE_CHECKING:
    from chainrule.data.readers.arrays import arrays as arrays
    from chainrule.data.readers.arrays import memory_mapped as memory_mapped
    from chainrule.data.readers.blocks import array_blocks as array_blocks
    from chainrule.data.readers.encoders import encoder_from_json as encoder_from_json
    from chainrule.data.readers.graphs.graph_set import graph_set as graph_set
    from chainrule.data.readers.graphs.graph_table import graph_table as graph_table
    from chainrule.data.readers.graphs.link_table import link_table as link_table
    from chainrule.data.readers.images.images import images as images
    from chainrule.data.readers.images.masked_images import masked_images as masked_images
    from chainrule.data.readers.points.clouds import clouds as clouds
    from chainrule.data.readers.series.series import series as series
    from chainrule.data.readers.tables.table import table as table
    from chainrule.data.readers.tables.table_blocks import table_blocks as table_blocks
    from chainrule.data.readers.texts.conll import tagged_sentences as tagged_sentences
    from chainrule.data.readers.texts.labeled_text import labeled_texts as labeled_texts
    from chainrule.data.readers.texts.pairs import sentence_pairs as sentence_pairs
    from chainrule.data.readers.texts.text_file import text_file as text_file
    from chainrule.data.splits import About as About
    from chainrule.data.splits import Encoder as Encoder
    from chainrule.data.splits import Split as Split
    from chainrule.data.splits import Splits as Splits

HOMES = {
    **dict.fromkeys(("About", "Encoder", "Split", "Splits"), "splits"),
    **dict.fromkeys(("arrays", "memory_mapped"), "readers.arrays"),
    "array_blocks": "readers.blocks",
    "encoder_from_json": "readers.encoders",
    "graph_set": "readers.graphs.graph_set",
    "graph_table": "readers.graphs.graph_table",
    "labeled_texts": "readers.texts.labeled_text",
    "link_table": "readers.graphs.link_table",
    "masked_images": "readers.images.masked_images",
    "sentence_pairs": "readers.texts.pairs",
    "tagged_sentences": "readers.texts.conll",
    "series": "readers.series.series",
    "clouds": "readers.points.clouds",
    "images": "readers.images.images",
    "table": "readers.tables.table",
    "table_blocks": "readers.tables.table_blocks",
    "text_file": "readers.texts.text_file",
}
PACKAGES = ("datasets", "readers", "text")
ARGUMENTS = """\
folder: where the files are kept, downloaded there on first use; $CHAINRULE_DATA or the user's cache
    folder if None. Generated data sets have no files.
seed: draws the validation split, unless it is published; the test split is always the same."""


def __getattr__(name: str) -> Any:
    if name in PACKAGES:
        return import_module(f"{__name__}.{name}")
    if name in HOMES:
        found = getattr(import_module(f"{__name__}.{HOMES[name]}"), name)
    else:
        found = _loader(_data_set(name))
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*HOMES, *PACKAGES, *(entry.path.stem for entry in entries("data"))})


def _data_set(name: str) -> Entry:
    known = {entry.path.stem: entry for entry in entries("data")}
    if name in known:
        return known[name]
    message = unknown("data set or reader", name, [*known, *HOMES])
    raise AttributeError(f"{__name__}: {message}", name=name)


def _loader(entry: Entry) -> Callable[..., Any]:
    """`load` of a data set under the data set's name, documented by its file."""
    module = entry.load()
    load, about = module.load, module.ABOUT
    arguments = "\n".join(filter(None, (ARGUMENTS, getdoc(load))))
    facts = {"Shapes": about.shapes, "Source": about.source, "License": about.license}
    facts["Citation"] = about.citation

    from chainrule.data.splits import Seed  # kept here: it imports torch

    door, parameters = checked(load), signature(load)

    @wraps(load)
    def loader(*args: Any, **kwargs: Any) -> Any:
        given = parameters.bind(*args, **kwargs).arguments
        if isinstance(given.get("folder"), str):
            given["folder"] = Path(given["folder"])
        check(load, "seed", Seed, given.get("seed", 0))
        return door(**given)

    loader.__name__ = loader.__qualname__ = entry.path.stem
    loader.__doc__ = "\n".join(
        [
            f"{entry.docstring}\n\nArguments:\n{indent(arguments, '    ')}\n",
            *(f"{name}: {fact}" for name, fact in facts.items()),
        ]
    )
    return loader
